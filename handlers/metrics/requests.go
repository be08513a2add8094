package metrics

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
)

// requests knows the series of each kind of request that it has met: looking one
// up takes no memory.
type requests struct {
	seconds *prometheus.HistogramVec
	mu      sync.RWMutex
	met     map[kind]prometheus.Observer
}

// kind is what a request's labels are made of.
type kind struct {
	route, method string
	code          int
}

func newRequests() *requests {
	return &requests{met: map[kind]prometheus.Observer{}, seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "app_http_request_duration_seconds", Buckets: buckets,
		Help: "Requests by the pattern of their route (/*: there is none), method (other: one that is not HTTP's) and status.",
	}, []string{"route", "method", "code"})}
}

// Requests is the outermost middleware: by then every error has its answer.
func (m *Metrics) Requests(next echo.HandlerFunc) echo.HandlerFunc {
	if m == nil {
		return next
	}
	return func(c echo.Context) error {
		m.inFlight.Inc()
		defer m.inFlight.Dec() // also where a handler gives up its connection by a panic
		began := time.Now()
		err := next(c)
		if err != nil {
			c.Error(err) // a product's middleware may stand outside of the error boundary
		}
		m.requests.of(kindOf(c)).Observe(time.Since(began).Seconds())
		return err
	}
}

// Expect has a kind of request be there before the first of it: Prometheus sees
// no increase between nothing and one.
func (m *Metrics) Expect(route, method string, code int) {
	if m != nil {
		m.requests.of(kind{route, method, code})
	}
}

func kindOf(c echo.Context) kind {
	k := kind{c.Path(), c.Request().Method, c.Response().Status}
	if k.route == "" {
		k.route = "/*"
	}
	switch k.method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
	default:
		k.method = "other"
	}
	return k
}

func (r *requests) of(k kind) prometheus.Observer {
	r.mu.RLock()
	series := r.met[k]
	r.mu.RUnlock()
	if series == nil {
		series = r.seconds.WithLabelValues(k.route, k.method, strconv.Itoa(k.code))
		r.mu.Lock()
		r.met[k] = series
		r.mu.Unlock()
	}
	return series
}
