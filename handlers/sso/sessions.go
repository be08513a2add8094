package sso

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
)

// Signed shows where one is signed in.
func (s *SSO) Signed(c echo.Context) error {
	found, err := s.Sessions.List(c.Request().Context())
	if err != nil {
		return err
	}
	for i := range found {
		found[i].UserAgent = browser(found[i].UserAgent)
	}
	return c.Render(http.StatusOK, "sessions.html", struct{ Sessions []tenancy.Session }{found})
}

// Revoke ends one other session of the signed-in user.
func (s *SSO) Revoke(c echo.Context) error {
	id, err := web.ID(c)
	if err != nil {
		return err
	}
	ended, err := s.Sessions.End(c.Request().Context(), id)
	if err != nil {
		return err
	}
	if ended == 0 {
		return echo.ErrNotFound
	}
	return c.Redirect(http.StatusSeeOther, "/sessions")
}

// RevokeOthers ends all other sessions of the signed-in user.
func (s *SSO) RevokeOthers(c echo.Context) error {
	if _, err := s.Sessions.End(c.Request().Context(), 0); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/sessions")
}

// browser says in two words what a User-Agent header says in twenty. The order
// matters: browsers claim to be each other.
func browser(agent string) string {
	name := first(agent, "Edg/", "Edge", "OPR/", "Opera", "Firefox/", "Firefox", "Chrome/", "Chrome", "Safari/", "Safari")
	system := first(agent, "Android", "Android", "iPhone", "iPhone", "iPad", "iPad", "Windows", "Windows",
		"Mac OS", "macOS", "Linux", "Linux")
	switch {
	case name != "" && system != "":
		return name + " on " + system
	case name+system != "":
		return name + system
	}
	return agent
}

// first returns the name behind the first mark that stands in text.
func first(text string, marksAndNames ...string) string {
	for i := 0; i < len(marksAndNames); i += 2 {
		if strings.Contains(text, marksAndNames[i]) {
			return marksAndNames[i+1]
		}
	}
	return ""
}
