package web

import (
	"slices"

	"github.com/labstack/echo/v4"
)

// Compose has e pass every request through the middleware, outermost first. It
// is put together here, once; what is given to e.Use is put together anew for
// each request.
func Compose(e *echo.Echo, all ...echo.MiddlewareFunc) {
	chain := wrap(func(c echo.Context) error { return c.Handler()(c) }, all)
	e.Use(func(echo.HandlerFunc) echo.HandlerFunc { return chain })
}

// ComposeRoute does the same for a route that was added to e with middleware.
func ComposeRoute(e *echo.Echo, r echo.Route, handler echo.HandlerFunc, all []echo.MiddlewareFunc) {
	e.Router().Add(r.Method, r.Path, wrap(handler, all))
}

func wrap(handler echo.HandlerFunc, all []echo.MiddlewareFunc) echo.HandlerFunc {
	for _, middleware := range slices.Backward(all) {
		handler = middleware(handler)
	}
	return handler
}
