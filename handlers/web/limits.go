package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

const (
	deadline = 20 * time.Second
	maxBody  = 1 << 20
)

// Deadline ends a request's context, and with it what its queries do, before
// the connection's own limit cuts the answer off.
func Deadline(next echo.HandlerFunc) echo.HandlerFunc { return Within(deadline)(next) }

// Within is Deadline with another time.
func Within(d time.Duration) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			ctx, cancel := context.WithTimeout(c.Request().Context(), d)
			defer cancel()
			c.SetRequest(c.Request().WithContext(ctx))
			defer removeFiles(c)
			return next(c)
		}
	}
}

// removeFiles deletes what an upload has put on the disk. net/http does so for
// the request that it has made, and the one that was read is a copy of it.
func removeFiles(c echo.Context) {
	if form := c.Request().MultipartForm; form != nil {
		_ = form.RemoveAll() // nobody can act on it
	}
}

// BodyWithin gives the body another time to arrive in than the connection's own,
// and the answer as much longer as Deadline leaves it. It stands behind the
// sign-in: a stranger has no use for it.
func BodyWithin(d time.Duration) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			connection, end := http.NewResponseController(c.Response()), time.Now().Add(d)
			if err := errors.Join(connection.SetReadDeadline(end), connection.SetWriteDeadline(end.Add(writeTimeout-deadline))); err != nil {
				return err
			}
			return next(c)
		}
	}
}

// LimitBody refuses bodies over 1 MiB with 413. A route that takes uploads has
// a limit of its own instead.
func LimitBody(next echo.HandlerFunc) echo.HandlerFunc { return LimitBodyTo(maxBody)(next) }

// LimitBodyTo is LimitBody with another limit, in bytes.
func LimitBodyTo(most int64) echo.MiddlewareFunc {
	return middleware.BodyLimit(strconv.FormatInt(most, 10) + "B")
}
