// Package handlers is the product: its routes, its pages, its API, and what it
// does when the platform sends an event. The files in this folder are yours to
// change; the folders below it are the template's (see README.md).
package handlers

import (
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/web"
)

// productName stands in the header and the title of every page.
const productName = "Subproduct"

// routes is every URL of the server with its handler. It returns the group of
// those that are for signed-in requests.
func (a *App) routes(e *echo.Echo) *echo.Group {
	e.GET("/healthz", a.Health.Healthz)
	e.GET("/livez", a.Health.Livez)
	e.GET("/static/*", a.assets.Serve)

	open := e.Group("", a.Health.Gate)
	open.POST("/webhooks/platform", a.webhook.Receive)

	// The limit stands before the session: a flood costs no query.
	signIn := open.Group("", web.RateLimit(a.config.LoginRateLimit), web.Deadline, a.sso.Identify)
	signIn.GET("/login", a.sso.Login)
	signIn.GET("/sso/callback", a.sso.Callback, web.NoReferrer)

	browser := open.Group("", web.Deadline, a.sso.Identify)
	browser.GET("/", a.home)
	browser.GET("/sso/preparing", a.sso.Preparing)
	browser.POST("/sso/switch", a.sso.Switch)
	browser.POST("/sso/stay", a.sso.Stay)
	browser.POST("/logout", a.sso.Logout)

	// Below here somebody is signed in: InTx works on their tenant's data.
	user := browser.Group("", a.sessions.Require, web.LimitBody)
	user.GET("/api/me", a.me)
	user.GET("/sessions", a.sso.Signed)
	user.POST("/sessions/:id/revoke", a.sso.Revoke)
	user.POST("/sessions/revoke-others", a.sso.RevokeOthers)

	notes := notes{a.DB}
	user.GET("/notes", notes.page)
	user.POST("/notes", notes.submit)
	user.POST("/notes/:id/delete", notes.submitDelete)
	user.GET("/api/notes", notes.list)
	user.POST("/api/notes", notes.create)
	user.DELETE("/api/notes/:id", notes.delete)

	// Last, for each group has set one of its own: what does not exist is 404 to
	// everybody, and no reason to sign in.
	browser.RouteNotFound("/*", echo.NotFoundHandler)
	return user
}
