package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/session"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/handlers/webhook"
)

// callbackPath is the path of {callback_url}.
const callbackPath = "/sso/callback"

// webhookPath is where the platform sends its events.
const webhookPath = "/webhooks/platform"

// routes is every URL of the template's own with its handler. The product's
// are in its own table.
func (a *app) routes(e *echo.Echo) {
	e.GET("/healthz", a.health.Healthz)
	e.GET("/livez", a.health.Livez)
	e.GET("/readyz", a.health.Readyz)
	e.GET("/static/*", a.assets.Serve)

	open := e.Group("", a.health.Gate)
	e.POST(webhookPath, a.webhook.Receive, webhook.Deadline, a.health.Gate)

	// The limit stands before the session: a flood costs no query.
	signIn := open.Group("", web.RateLimit(a.config.LoginRateLimit), web.Deadline, a.sso.Identify)
	signIn.GET("/login", a.sso.Login)
	signIn.GET(callbackPath, a.sso.Callback)

	browser := open.Group("", web.Deadline, a.sso.Identify)
	browser.GET("/sso/preparing", a.sso.Preparing)
	browser.POST("/sso/switch", a.sso.Switch, web.LimitBody)
	browser.POST("/sso/stay", a.sso.Stay, web.LimitBody)
	browser.POST("/logout", a.sso.Logout)

	// Below here somebody is signed in: InTx works on their tenant's data.
	user := browser.Group("", a.sessions.Require, web.LimitBody, web.ValidText)
	user.GET("/api/me", me)
	user.GET("/sessions", a.sso.Signed)
	user.POST("/sessions/:id/revoke", a.sso.Revoke)
	user.POST("/sessions/revoke-others", a.sso.RevokeOthers)

	if a.product.Routes != nil {
		public := browser.Group("", web.LimitBody, web.ValidText)
		upload := func(most int64, d time.Duration) *echo.Group {
			return open.Group("", web.Within(d), a.sso.Identify, a.sessions.Require, web.BodyWithin(d), web.LimitBodyTo(most), web.ValidText)
		}
		a.product.Routes(Routes{Public: public, User: user, Upload: upload, DB: a.db, PublicURL: strings.TrimSuffix(a.config.PublicURL.String(), "/")})
	}

	// Last, for each group has set one of its own: what does not exist is 404 to
	// everybody, and no reason to sign in.
	browser.RouteNotFound("/*", echo.NotFoundHandler)
}

// once has routes added to e, and returns an error that names those which were
// added before: the later one would replace the other without a word.
func once(e *echo.Echo, routes func(*echo.Echo)) error {
	seen, twice := map[string]bool{}, []error(nil)
	e.OnAddRouteHandler = func(_ string, r echo.Route, handler echo.HandlerFunc, middleware []echo.MiddlewareFunc) {
		web.ComposeRoute(e, r, handler, middleware)
		route := r.Method + " " + r.Path
		if seen[route] && r.Method != echo.RouteNotFound {
			twice = append(twice, fmt.Errorf("the route %s is there already: choose another path", route))
		}
		seen[route] = true
	}
	routes(e)
	e.OnAddRouteHandler = nil
	return errors.Join(twice...)
}

// me answers GET /api/me.
func me(c echo.Context) error {
	user, _ := session.From(c.Request().Context())
	return c.JSON(http.StatusOK, user)
}
