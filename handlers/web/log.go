package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"
)

// noted is what the parts that a request passes add to its line in the log.
type noted struct{ attrs []slog.Attr }

const notedKey = "noted"

// Note adds to the request's line in the log. A key that is there already gets
// the new value.
func Note(c echo.Context, attrs ...slog.Attr) {
	n, ok := c.Get(notedKey).(*noted)
	if !ok {
		return
	}
	for _, a := range attrs {
		n.attrs = append(slices.DeleteFunc(n.attrs, func(b slog.Attr) bool { return a.Key == b.Key }), a)
	}
}

// SetTenant has the request's line in the log name its tenant.
func SetTenant(c echo.Context, slug string) { Note(c, slog.String("tenant", slug)) }

// SetUser has the request's line in the log name who has asked.
func SetUser(c echo.Context, id string) { Note(c, slog.String("user_id", id)) }

// statusLeft stands in the log where the client has left before the answer, as
// proxies have it: no fault of the server, and no answer that anybody gets.
const statusLeft = 499

// Log writes one line a request, after the error boundary has answered for what
// failed. It logs a route's pattern and never the path or the query: a sign-in
// code, or what a customer typed, may stand there.
func Log(log *slog.Logger, boundary *Boundary) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			start, n := time.Now(), &noted{}
			c.Set(notedKey, n)
			connected := c.Request().Context()
			err := next(c)
			if connected.Err() != nil && boundary.ended(err) {
				err = &Problem{Status: statusLeft, Title: "the client has left", Cause: err}
			}
			if err != nil {
				boundary.Write(err, c)
			}
			logRequest(log, c, err, time.Since(start), n.attrs)
			return nil
		}
	}
}

// ended reports whether an error can come of a request's end alone: it says so, or
// that something is unavailable, as a database does whose statement was cancelled.
func (b *Boundary) ended(err error) bool {
	return errors.Is(err, context.Canceled) || err != nil && b.Problem(err).Status == http.StatusServiceUnavailable
}

func logRequest(log *slog.Logger, c echo.Context, err error, took time.Duration, noted []slog.Attr) {
	r, status := c.Request(), c.Response().Status
	level := slog.LevelInfo
	if c.Path() == "/healthz" || c.Path() == "/livez" {
		level = slog.LevelDebug
	}
	attrs := append(make([]slog.Attr, 0, 16),
		slog.String("method", r.Method), slog.String("route", c.Path()), slog.Int("status", status),
		slog.Int64("bytes", c.Response().Size), Milliseconds("took_ms", took),
		slog.String("request_id", RequestID(c)), slog.String("remote", c.RealIP()),
	)
	attrs = append(attrs, noted...)
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
		if status >= http.StatusInternalServerError {
			level = slog.LevelError
		}
	}
	log.LogAttrs(r.Context(), level, "request", attrs...)
}

// Milliseconds is a duration as it stands in the log.
func Milliseconds(key string, d time.Duration) slog.Attr {
	return slog.Float64(key, float64(d.Microseconds())/1000)
}
