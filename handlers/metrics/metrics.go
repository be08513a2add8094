// Package metrics is what a server tells Prometheus about itself. Its names
// begin with app_, whatever the product is called, so that the alerts and the
// dashboard in handlers/server/ops are every product's. No label names a tenant
// or a user, and none has a value that a client makes up.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"example.com/subproduct/tenancy/inbox"
)

// Metrics measure a server. A nil *Metrics measures nothing, and costs nothing.
type Metrics struct {
	registry  *prometheus.Registry
	requests  *requests
	inFlight  prometheus.Gauge
	exchanges *prometheus.HistogramVec
	events    *prometheus.CounterVec
	stop      func()
}

// buckets go from what a page takes to the longest that any part may take, in
// seconds.
var buckets = []float64{.0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// New returns the metrics of one process, in a registry of their own.
func New(product, version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), requests: newRequests(), stop: func() {}}
	m.inFlight = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "app_http_requests_in_flight", Help: "Requests that are being answered.",
	})
	m.exchanges = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "app_platform_exchange_duration_seconds", Buckets: buckets,
		Help: "Exchanges of a sign-in code at the platform, by outcome: ok, refused, key_refused, timeout, unavailable, bad_answer; left: the browser did.",
	}, []string{"outcome"})
	m.events = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "app_webhook_attempts_total",
		Help: "Attempts at events, by type (other: without a handler) and outcome: done, failed_once (tried again), failed (for good), ignored.",
	}, []string{"type", "outcome"})
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "app_build_info", Help: "1; its labels are the program's.",
		ConstLabels: prometheus.Labels{"product": product, "version": version},
	})
	build.Set(1)
	m.Register(m.requests.seconds, m.inFlight, m.exchanges, m.events, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Register adds what another part measures. It panics on a name that is taken.
func (m *Metrics) Register(more ...prometheus.Collector) { m.registry.MustRegister(more...) }

// LogDropped adds how many lines the log has dropped, as count says.
func (m *Metrics) LogDropped(count func() int64) {
	if m != nil && count != nil {
		m.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "app_log_lines_dropped_total", Help: "Lines that were not logged, since whoever reads the log was too slow.",
		}, func() float64 { return float64(count()) }))
	}
}

// Exchange notes how an exchange with the platform ended, and what it took.
func (m *Metrics) Exchange(outcome string, took time.Duration) {
	if m != nil {
		m.exchanges.WithLabelValues(outcome).Observe(took.Seconds())
	}
}

// Event notes what became of an attempt at an event; see inbox.Options.Observe.
func (m *Metrics) Event(eventType string, outcome inbox.Outcome) {
	if m == nil {
		return
	}
	if eventType == "" {
		eventType = "other"
	}
	m.events.WithLabelValues(eventType, outcome.String()).Inc()
}
