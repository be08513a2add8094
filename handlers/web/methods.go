package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// Methods answers 405 with Allow to a method that a path does not take, before
// anybody is asked to sign in, and HEAD wherever there is GET. It must be the
// last middleware of e and made when all routes are there. Echo alone would say
// 404: each group with middleware has a catch-all, which hides other methods.
func Methods(e *echo.Echo) echo.MiddlewareFunc {
	t := newMethodTable(e)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			if t.routes[route{r.Method, c.Path()}] {
				return next(c)
			}
			allowed := t.allowed(echo.GetPath(r))
			switch {
			case len(allowed) == 0:
				return next(c)
			case r.Method == http.MethodHead && slices.Contains(allowed, http.MethodGet):
				e.Router().Find(http.MethodGet, echo.GetPath(r), c)
				return c.Handler()(c)
			}
			c.Response().Header().Set(echo.HeaderAllow, strings.Join(allowed, ", "))
			return echo.ErrMethodNotAllowed
		}
	}
}

type route struct{ method, pattern string }

// methodTable knows which methods a path takes.
type methodTable struct {
	echo    *echo.Echo
	routes  map[route]bool
	methods []string
}

func newMethodTable(e *echo.Echo) *methodTable {
	t := &methodTable{echo: e, routes: map[route]bool{}}
	for _, r := range e.Routes() {
		if r.Method == echo.RouteNotFound {
			continue
		}
		t.routes[route{r.Method, r.Path}] = true
		t.methods = append(t.methods, r.Method)
	}
	slices.Sort(t.methods)
	t.methods = slices.Compact(t.methods)
	return t
}

// allowed are the methods that the path takes, sorted.
func (t *methodTable) allowed(path string) (methods []string) {
	c := t.echo.AcquireContext()
	defer t.echo.ReleaseContext(c)
	for _, method := range t.methods {
		c.Reset(nil, nil)
		t.echo.Router().Find(method, path, c)
		if t.routes[route{method, c.Path()}] {
			methods = append(methods, method)
		}
	}
	if slices.Contains(methods, http.MethodGet) && !slices.Contains(methods, http.MethodHead) {
		methods = append(methods, http.MethodHead)
		slices.Sort(methods)
	}
	return methods
}
