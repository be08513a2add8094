package metrics

import (
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	headerTimeout = 5 * time.Second
	answerTimeout = 10 * time.Second
	// maxScrapes at the same time: more of them than one are a mistake.
	maxScrapes = 4
)

// Serve answers GET /metrics on l until Close is called.
func (m *Metrics) Serve(l net.Listener, log *slog.Logger) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError), ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes,
	}))
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: answerTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(l) }()
	m.stop = func() { _ = server.Close(); <-served }
}

// Close stops Serve.
func (m *Metrics) Close() {
	if m != nil {
		m.stop()
	}
}
