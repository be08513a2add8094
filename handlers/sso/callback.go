package sso

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/handlers/session"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
)

const (
	// maxCode is far above any sensible one-time code.
	maxCode = 4096
	// preparingAfter is how long a browser waits for its workspace before it is
	// shown the preparing page.
	preparingAfter = 2 * time.Second
)

// Callback is where the platform sends a browser with a code (contract, SSO
// rules 3 to 6). A code that this browser did not ask for signs it in all the
// same, for the platform may start a sign-in itself; but it never replaces
// somebody else's session without asking.
func (s *SSO) Callback(c echo.Context) error {
	returnTo, asked := s.asked(c)
	codes := c.QueryParams()["code"]
	if len(codes) != 1 || codes[0] == "" || len(codes[0]) > maxCode {
		return &web.Problem{
			Status: http.StatusBadRequest, Title: "That link is not complete",
			Message: "The address has no usable sign-in code.", Action: signInAgain,
		}
	}
	askedAt := time.Now()
	user, err := s.identify(c, codes[0])
	if err != nil {
		return err
	}
	pending := session.Pending{User: user, ReturnTo: returnTo, AskedAt: askedAt}
	current, signedIn := session.From(c.Request().Context())
	if signedIn && !asked && !current.SameAs(user) {
		return s.askToSwitch(c, current, pending)
	}
	return s.enter(c, pending)
}

// identify spends the code and checks what it was worth. The request's line in
// the log names the tenant, whatever comes of it.
func (s *SSO) identify(c echo.Context, code string) (session.User, error) {
	ctx := c.Request().Context()
	info, err := s.Platform.Exchange(ctx, code)
	if errors.Is(err, platform.ErrKeyRefused) {
		s.Log.ErrorContext(ctx, "nobody can sign in if this goes on: PLATFORM_API_KEY is wrong or has expired", "error", err, "request_id", web.RequestID(c))
	}
	if err != nil {
		return session.User{}, exchangeProblem(err)
	}
	user, slug, err := s.admit(info)
	if errors.Is(err, tenancy.ErrBadSlug) {
		return user, exchangeProblem(errors.Join(platform.ErrBadAnswer, err))
	}
	web.SetTenant(c, slug.String())
	web.SetUser(c, info.UserID)
	return user, err
}

// exchangeProblem is the page for an exchange that failed.
func exchangeProblem(err error) error {
	p := &web.Problem{
		Status: http.StatusBadGateway, Title: "The platform gave no usable answer",
		Message: "Nothing is wrong with your account. Wait a moment, then sign in again.", Action: signInAgain, Cause: err,
	}
	switch {
	case errors.Is(err, platform.ErrKeyRefused):
		p.Status, p.Title = http.StatusUnauthorized, "The platform did not accept this sign-in"
		p.Message = "Sign in again. If that does not help, the fault is on our side: it has been noted."
	case errors.Is(err, platform.ErrCodeRefused):
		p.Status, p.Title = http.StatusUnauthorized, "That sign-in has expired"
		p.Message = "A sign-in link works once, and not for long."
	case errors.Is(err, platform.ErrTimeout):
		p.Status, p.Title = http.StatusGatewayTimeout, "The platform takes too long"
	}
	return p
}

// enter finishes a sign-in when the tenant is ready, and lets the browser wait
// when that takes longer than preparingAfter: the tenant may be new, and its event
// late or lost.
func (s *SSO) enter(c echo.Context, p session.Pending) error {
	slug, err := tenancy.ParseSlug(p.User.TenantSlug)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(tenancy.WithActor(c.Request().Context(), p.User.ID), preparingAfter)
	defer cancel()
	err = s.DB.EnsureReady(ctx, slug)
	switch {
	case err == nil:
		return s.signIn(c, slug, p)
	case errors.Is(err, tenancy.ErrTenantCancelled):
		return notAllowed("tenant", tenancy.Cancelled)
	case ctx.Err() != nil && c.Request().Context().Err() == nil:
		return s.prepare(c, p)
	}
	return &web.Problem{
		Status: http.StatusServiceUnavailable, Title: "Your workspace is not ready",
		Message: "Preparing it failed this time. It has been noted; try again in a few minutes.", Action: signInAgain, Cause: err,
	}
}

func (s *SSO) signIn(c echo.Context, slug tenancy.Slug, p session.Pending) error {
	ctx := c.Request().Context()
	if err := s.hook(ctx, slug, p.User); err != nil {
		return err
	}
	err := s.Sessions.SignIn(c, p.User)
	if errors.Is(err, tenancy.ErrTenantCancelled) {
		return notAllowed("tenant", tenancy.Cancelled)
	}
	if errors.Is(err, tenancy.ErrBusy) { // the code is spent: the same address would not do
		return &web.Problem{
			Status: http.StatusServiceUnavailable, Title: "Your workspace is busy",
			Message: "It is being changed right now. Try again in a moment.", Action: signInAgain, Cause: err,
		}
	}
	if err != nil {
		return err
	}
	if err := s.DB.SignedIn(ctx, slug, p.User.PlanType, p.AskedAt); err != nil {
		s.Log.ErrorContext(ctx, "sign-in not noted", "tenant", slug.String(), "error", err)
	}
	return c.Redirect(http.StatusSeeOther, p.ReturnTo)
}
