// Package sso signs browsers in by the platform's one-time code (contract, SSO
// flow), and out again.
package sso

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/handlers/session"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
)

// SSO holds what the sign-in routes need.
type SSO struct {
	Platform    *platform.Client
	Tokens      *platform.Verifier // nil: tokens are not accepted
	Sessions    *session.Manager
	DB          *tenancy.DB
	CallbackURL string   // {callback_url}
	Allowed     []string // subscription and tenant statuses that may sign in
	State       bool     // the platform keeps the query of the redirect address
	Secure      bool     // browsers reach this server by https
	Log         *slog.Logger
	// OnSignIn is the product's part of a sign-in; nil: there is none.
	OnSignIn func(ctx context.Context, tx pgx.Tx, user session.User) error
}

// hook runs the product's part of a sign-in on the tenant's data. It returns
// the product's error, or those of ForTenant and InTx.
func (s *SSO) hook(ctx context.Context, slug tenancy.Slug, user session.User) error {
	if s.OnSignIn == nil {
		return nil
	}
	ctx, err := s.DB.ForTenant(ctx, slug.String())
	if err != nil {
		return err
	}
	return s.DB.InTx(ctx, func(tx pgx.Tx) error { return s.OnSignIn(ctx, tx, user) })
}

// loginLifetime is how long a browser may take at the platform's login page.
const loginLifetime = 30 * time.Minute

// Login sends the browser to the platform (contract, SSO rule 1) and remembers,
// in that browser alone, that it asked and where it wanted to go. A visit that
// was not begun here asked for nothing: it could be the first half of slipping
// the visitor an identity, and the callback then asks.
func (s *SSO) Login(c echo.Context) error {
	nonce, to := rand.Text(), safePath(c.QueryParam("return_to"))
	if !s.begunHere(c.Request()) {
		nonce = ""
	}
	c.SetCookie(s.loginCookie(nonce+"."+encodePath(to), int(loginLifetime.Seconds())))
	callback := s.CallbackURL
	if s.State && nonce != "" {
		callback += "?state=" + nonce
	}
	return c.Redirect(http.StatusSeeOther, s.Platform.LoginURL(callback))
}

// begunHere reports whether a visit came from a page of this server or was typed
// by hand. A browser that sends no Sec-Fetch-Site is believed by its Referer,
// which no other site can set.
func (s *SSO) begunHere(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
		return strings.HasPrefix(r.Referer(), strings.TrimSuffix(s.CallbackURL, "sso/callback"))
	}
	return false
}

// Logout ends the session.
func (s *SSO) Logout(c echo.Context) error {
	if err := s.Sessions.SignOut(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/")
}

func (s *SSO) loginCookie(value string, maxAge int) *http.Cookie {
	name := "login"
	if s.Secure {
		name = "__Host-login"
	}
	return &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode,
	}
}

// asked tells whether this browser came from Login, and where it wanted to go.
// It can tell once: the cookie is taken back. Where the platform keeps a state,
// the callback must also be the answer to this browser's last visit to Login.
func (s *SSO) asked(c echo.Context) (returnTo string, asked bool) {
	cookie, err := c.Cookie(s.loginCookie("", 0).Name)
	if err != nil {
		return "/", false
	}
	c.SetCookie(s.loginCookie("", -1))
	nonce, encoded, _ := strings.Cut(cookie.Value, ".")
	asked = nonce != ""
	if s.State {
		states := c.QueryParams()["state"]
		asked = asked && len(states) == 1 && subtle.ConstantTimeCompare([]byte(states[0]), []byte(nonce)) == 1
	}
	return decodePath(encoded), asked
}

// permitted says whether a status is one of those that may sign in; a platform
// may spell it with other capitals.
func (s *SSO) permitted(status string) bool {
	return slices.ContainsFunc(s.Allowed, func(allowed string) bool { return strings.EqualFold(allowed, status) })
}

// notAllowed is the answer to a status that may not sign in. It names it.
func notAllowed(what, status string) error {
	return &web.Problem{
		Status: http.StatusForbidden, Title: "No access with this subscription",
		Message: "The " + what + " status is “" + status + "”. Ask whoever manages your subscription, then sign in again.",
		Action:  signInAgain,
	}
}

var signInAgain = web.Action{Label: "Sign in again", URL: "/login"}
