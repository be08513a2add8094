package web

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"runtime/debug"

	"github.com/labstack/echo/v4"
)

const requestIDKey = "request_id"

// requestKey is of the same in the request's context.
type requestKey struct{}

var sensibleID = regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`)

// AssignID gives the request an id, or keeps the one that a trusted proxy gave it
// where that is fit for a log. A client could name its requests like others'.
func AssignID(trusted []netip.Prefix) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			id := c.Request().Header.Get(echo.HeaderXRequestID)
			if !sensibleID.MatchString(id) || !comesFrom(c.Request(), trusted) {
				id = rand.Text()
			}
			c.Set(requestIDKey, id)
			c.SetRequest(c.Request().WithContext(context.WithValue(c.Request().Context(), requestKey{}, id)))
			c.Response().Header().Set(echo.HeaderXRequestID, id)
			return next(c)
		}
	}
}

// RequestID returns the id of the request, as it stands in the log.
func RequestID(c echo.Context) string { id, _ := c.Get(requestIDKey).(string); return id }

// RequestIDFrom returns the id of the request that ctx is of; empty: of none.
func RequestIDFrom(ctx context.Context) string { id, _ := ctx.Value(requestKey{}).(string); return id }

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
