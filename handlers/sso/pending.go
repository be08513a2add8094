package sso

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/session"
)

const preparingPath = "/sso/preparing"

// prepare shows the page that waits for the workspace and moves on by itself.
func (s *SSO) prepare(c echo.Context, p session.Pending) error {
	if err := s.Sessions.Hold(c, p); err != nil {
		return err
	}
	return c.Render(http.StatusOK, "preparing.html", struct{ Tenant, URL string }{p.User.TenantSlug, preparingPath})
}

// Preparing is where that page leads: in, when the workspace is ready, else to
// itself.
func (s *SSO) Preparing(c echo.Context) error {
	p, ok := s.Sessions.Pending(c)
	if !ok || p.Nonce != "" {
		return c.Redirect(http.StatusSeeOther, "/")
	}
	return s.enter(c, p)
}

// askToSwitch keeps the new identity aside and asks whose session it shall be.
func (s *SSO) askToSwitch(c echo.Context, current session.User, p session.Pending) error {
	p.Nonce = rand.Text()
	if err := s.Sessions.Hold(c, p); err != nil {
		return err
	}
	return c.Render(http.StatusOK, "switch.html", struct {
		Current, Next session.User
		Nonce         string
	}{current, p.User, p.Nonce})
}

// answered returns the sign-in that the page asked about whose button was
// pressed; a page that a later one has replaced is about none.
func (s *SSO) answered(c echo.Context) (session.Pending, bool) {
	p, ok := s.Sessions.Pending(c)
	return p, ok && p.Nonce != "" && subtle.ConstantTimeCompare([]byte(p.Nonce), []byte(c.FormValue("nonce"))) == 1
}

// Switch signs in as the identity that the page showed.
func (s *SSO) Switch(c echo.Context) error {
	p, ok := s.answered(c)
	if !ok {
		return c.Redirect(http.StatusSeeOther, "/")
	}
	p.Nonce = ""
	return s.enter(c, p)
}

// Stay forgets the identity that the page showed.
func (s *SSO) Stay(c echo.Context) error {
	if _, ok := s.answered(c); !ok {
		return c.Redirect(http.StatusSeeOther, "/")
	}
	if err := s.Sessions.Drop(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/")
}
