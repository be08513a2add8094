package web

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	requestIDKey = "request_id"
	tenantKey    = "tenant"
)

var sensibleID = regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`)

// AssignID gives the request an id, or keeps the one that a proxy gave it where
// that is fit for a log.
func AssignID(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get(echo.HeaderXRequestID)
		if !sensibleID.MatchString(id) {
			id = rand.Text()
		}
		c.Set(requestIDKey, id)
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		return next(c)
	}
}

// RequestID returns the id of the request, as it stands in the log.
func RequestID(c echo.Context) string { id, _ := c.Get(requestIDKey).(string); return id }

// SetTenant has the request's log line name its tenant.
func SetTenant(c echo.Context, slug string) { c.Set(tenantKey, slug) }

// Log writes one line a request, after the error boundary has answered for what
// failed. It logs a route's pattern and never the path or the query: a sign-in
// code, or what a customer typed, may stand there.
func Log(log *slog.Logger, boundary *Boundary) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			start := time.Now()
			err := next(c)
			if err != nil {
				boundary.Write(err, c)
			}
			logRequest(log, c, err, time.Since(start))
			return nil
		}
	}
}

func logRequest(log *slog.Logger, c echo.Context, err error, took time.Duration) {
	r, status := c.Request(), c.Response().Status
	level := slog.LevelInfo
	if c.Path() == "/healthz" || c.Path() == "/livez" {
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("route", c.Path()),
		slog.Int("status", status), slog.Float64("took_ms", float64(took.Microseconds())/1000),
		slog.String("request_id", RequestID(c)), slog.String("remote", c.RealIP()),
	}
	if slug, ok := c.Get(tenantKey).(string); ok {
		attrs = append(attrs, slog.String("tenant", slug))
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
		if status >= http.StatusInternalServerError {
			level = slog.LevelError
		}
	}
	log.LogAttrs(r.Context(), level, "request", attrs...)
}

// Recover turns a panic into an error with its stack. A handler that gave up
// its connection on purpose goes on doing so.
func Recover(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			p := recover()
			if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
				panic(p)
			}
			if p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		return next(c)
	}
}
