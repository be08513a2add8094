package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/session"
)

// This file has the landing page and the home of who is signed in.

// home answers GET /: the landing page, or who and where one is.
func home(c echo.Context) error {
	if _, ok := session.From(c.Request().Context()); !ok {
		return c.Render(http.StatusOK, "landing.html", nil)
	}
	return c.Render(http.StatusOK, "home.html", nil)
}
