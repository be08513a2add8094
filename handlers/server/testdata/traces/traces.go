// Package traces is the recipe of ops/README.md: a module of its own, so that no
// product that wants no traces has what they need.
package traces

import (
	"github.com/exaring/otelpgx"
	"go.opentelemetry.io/contrib/instrumentation/github.com/labstack/echo/otelecho"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"example.com/subproduct/handlers/server"
)

// recipe begins

// traced is p with a span for each request, and beneath it one for each of its
// statements.
func traced(p server.Product, provider trace.TracerProvider) server.Product {
	p.Middleware = append(p.Middleware, otelecho.Middleware(p.Slug, otelecho.WithTracerProvider(provider)))
	p.Tracer = otelpgx.NewTracer(otelpgx.WithTracerProvider(provider))
	return p
}

// newProvider sends what requests do to exporter. What goes on beside them, the
// health probe's statement every second for example, is no trace.
func newProvider(service string, exporter sdktrace.SpanExporter) *sdktrace.TracerProvider {
	return sdktrace.NewTracerProvider(
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", service))),
		sdktrace.WithSampler(sdktrace.ParentBased(requests{sdktrace.AlwaysSample()})), // or TraceIDRatioBased(0.1)
		sdktrace.WithBatcher(exporter),
	)
}

// requests lets traces begin with a request alone.
type requests struct{ sdktrace.Sampler }

func (r requests) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if p.Kind != trace.SpanKindServer {
		return sdktrace.SamplingResult{Decision: sdktrace.Drop}
	}
	return r.Sampler.ShouldSample(p)
}

// recipe ends
