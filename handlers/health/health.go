// Package health answers the platform's health probe (contract, section 2).
package health

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/tenancy"
)

const (
	interval = time.Second
	timeout  = 900 * time.Millisecond
	// staleAfter distrusts an answer that nothing has renewed: the prober
	// itself may hang.
	staleAfter = 5 * time.Second
)

// Health knows how the database is without asking it: it is asked in the
// background, so that no hang and no crowd ever delays an answer.
type Health struct {
	probe  *tenancy.Probe
	lastOK atomic.Int64 // Unix nanoseconds of the last good answer; 0: the last was bad
	log    *slog.Logger
	gone   time.Time // when the database was first found unavailable; zero: it is there

	ready    chan struct{} // closed when requests are taken
	draining atomic.Bool
}

// New returns a health that is unavailable until Run has seen the database and
// Ready was called.
func New(db *tenancy.DB, log *slog.Logger) *Health {
	return &Health{probe: db.NewProbe(), log: log, ready: make(chan struct{})}
}

// DatabaseUp reports whether the database has answered the last probe. It asks
// nobody.
func (h *Health) DatabaseUp() bool { return time.Since(time.Unix(0, h.lastOK.Load())) <= staleAfter }

// Run probes the database until ctx ends.
func (h *Health) Run(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	defer h.probe.Close(context.WithoutCancel(ctx))
	for {
		err := h.check(ctx)
		if ctx.Err() == nil {
			h.tell(ctx, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (h *Health) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := h.probe.Check(ctx); err != nil {
		h.lastOK.Store(0)
		return err
	}
	h.lastOK.Store(time.Now().UnixNano())
	return nil
}

// tell logs the beginning and the end of an outage, a line each.
func (h *Health) tell(ctx context.Context, err error) {
	switch {
	case err != nil && h.gone.IsZero():
		h.gone = time.Now()
		h.log.ErrorContext(ctx, "the database is unavailable", "error", err)
	case err == nil && !h.gone.IsZero():
		h.log.InfoContext(ctx, "the database is available again", "after_ms", time.Since(h.gone).Milliseconds())
		h.gone = time.Time{}
	}
}

func (h *Health) status() (int, string) {
	switch {
	case !h.DatabaseUp():
		return http.StatusServiceUnavailable, "unavailable"
	case !h.IsReady():
		return http.StatusServiceUnavailable, "starting"
	}
	return http.StatusOK, "ok"
}

// Healthz answers the platform: 200 while the database is reachable and takes
// writes and the server is ready, else 503 (contract, sections 2 and 7).
func (h *Health) Healthz(c echo.Context) error {
	code, status := h.status()
	return answer(c, code, map[string]string{"status": status, "time": time.Now().UTC().Format(time.RFC3339)})
}

// Livez answers an orchestrator: 200 while the process runs.
func (h *Health) Livez(c echo.Context) error {
	return answer(c, http.StatusOK, map[string]string{"status": "ok"})
}

func answer(c echo.Context, code int, body map[string]string) error {
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	if code != http.StatusOK {
		c.Response().Header().Set(echo.HeaderRetryAfter, "1")
	}
	return c.JSON(code, body)
}
