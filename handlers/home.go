package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/session"
)

// home answers GET /: the landing page, or who and where one is.
func (a *App) home(c echo.Context) error {
	if _, ok := session.From(c.Request().Context()); !ok {
		return c.Render(http.StatusOK, "landing.html", nil)
	}
	return c.Render(http.StatusOK, "home.html", nil)
}

// me answers GET /api/me.
func (a *App) me(c echo.Context) error {
	user, _ := session.From(c.Request().Context())
	return c.JSON(http.StatusOK, user)
}
