package web

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

const (
	deadline = 20 * time.Second
	maxBody  = "1M"
)

// Deadline ends a request's context, and with it what its queries do, before
// the connection's own limit cuts the answer off.
func Deadline(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx, cancel := context.WithTimeout(c.Request().Context(), deadline)
		defer cancel()
		c.SetRequest(c.Request().WithContext(ctx))
		return next(c)
	}
}

// LimitBody refuses bodies over 1 MiB with 413. A route that takes uploads has
// its own limit instead.
func LimitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return middleware.BodyLimit(maxBody)(next)
}
