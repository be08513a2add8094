package traces

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
)

// A request is a trace: its span is named by its route's pattern and has its
// status, and its statements are beneath it. Nothing else is one.
func TestTraces_ARequestAndItsStatements(t *testing.T) {
	t.Parallel()
	exporter := tracetest.NewInMemoryExporter()
	provider := newProvider("fixture", exporter)
	site := handlertest.Start(t, traced(fixture.Product(), provider), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	b.API(http.MethodGet, "/api/items", "")
	b.API(http.MethodDelete, "/api/items/4711", "")
	if err := provider.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := exporter.GetSpans()
	list := named(t, spans, "GET /api/items")
	if !slices.ContainsFunc(spans, func(s tracetest.SpanStub) bool {
		return s.SpanContext.TraceID() == list.SpanContext.TraceID() && s.Parent.IsValid() && strings.Contains(attributes(s), "FROM items")
	}) {
		t.Error("its statement is not beneath it")
	}
	if missing := named(t, spans, "DELETE /api/items/:id"); !strings.Contains(attributes(missing), "http.status_code=404") {
		t.Errorf("the attributes are %s", attributes(missing))
	}
	for _, s := range spans {
		if !s.Parent.IsValid() && s.SpanKind != trace.SpanKindServer {
			t.Errorf("a trace begins with %s", s.Name)
		}
		if strings.Contains(attributes(s), "?code=") {
			t.Errorf("a sign-in code is in %s", attributes(s))
		}
	}
}

func named(t *testing.T, spans tracetest.SpanStubs, name string) tracetest.SpanStub {
	t.Helper()
	for _, s := range spans {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no span is named %s", name)
	return tracetest.SpanStub{}
}

// attributes are those of a span, one a line.
func attributes(s tracetest.SpanStub) string {
	var text strings.Builder
	for _, a := range s.Attributes {
		text.WriteString(string(a.Key) + "=" + a.Value.Emit() + "\n")
	}
	return text.String()
}
