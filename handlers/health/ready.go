package health

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// gateTimeout is how long a request waits for a server that is starting. With a
// deadline of its own it waits no longer than that.
const gateTimeout = 5 * time.Second

// Ready says, once, that the server takes requests.
func (h *Health) Ready() { close(h.ready) }

// IsReady reports whether Ready was called.
func (h *Health) IsReady() bool {
	select {
	case <-h.ready:
		return true
	default:
		return false
	}
}

// Drain says that the server is about to stop.
func (h *Health) Drain() { h.draining.Store(true) }

// Readyz answers a load balancer: 200 while requests should be sent here, else
// 503. A database that is down is no reason: it is down for all replicas, and
// somebody has to say so.
func (h *Health) Readyz(c echo.Context) error {
	switch {
	case h.draining.Load():
		return answer(c, http.StatusServiceUnavailable, map[string]string{"status": "draining"})
	case !h.IsReady():
		return answer(c, http.StatusServiceUnavailable, map[string]string{"status": "starting"})
	}
	return answer(c, http.StatusOK, map[string]string{"status": "ok"})
}

// Gate lets requests wait until the server is ready, for the shared schema must
// be there before the first of them, and refuses them with 503 when that takes
// too long.
func (h *Health) Gate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !h.IsReady() && !h.awaitReady(c) {
			c.Response().Header().Set(echo.HeaderRetryAfter, "1")
			return echo.NewHTTPError(http.StatusServiceUnavailable)
		}
		return next(c)
	}
}

func (h *Health) awaitReady(c echo.Context) bool {
	timeout := time.NewTimer(gateTimeout)
	defer timeout.Stop()
	select {
	case <-h.ready:
		return true
	case <-timeout.C:
	case <-c.Request().Context().Done():
	}
	return false
}

// Farewell tells HTTP/1.1 clients, while the server drains, that their
// connection ends with this answer. Connections that are idle are left alone: a
// request may be on its way on any of them.
func (h *Health) Farewell(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
