package session

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
)

type userCtxKey struct{}

// From returns who is signed in.
func From(ctx context.Context) (User, bool) {
	u, ok := ctx.Value(userCtxKey{}).(User)
	return u, ok
}

// maxToken is well above the 43 characters of ours: anything longer is the
// cookie of something else, and not worth a query.
const maxToken = 64

// Load is the middleware that finds the browser's session. A signed-in
// request's context carries its user and its tenant from here on.
func (m *Manager) Load(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		var token string
		if cookie, err := c.Request().Cookie(m.scs.Cookie.Name); err == nil && len(cookie.Value) <= maxToken {
			token = cookie.Value
		}
		c.Response().Header().Add(echo.HeaderVary, echo.HeaderCookie)
		var found loaded
		ctx, err := m.scs.Load(context.WithValue(c.Request().Context(), loadedKey{}, &found), token)
		if err != nil {
			return fmt.Errorf("%w: %w", web.ErrUnavailable, err)
		}
		if user, ok := get[User](m, ctx, userKey); ok && user.TenantSlug == found.tenant.Slug.String() {
			ctx = signedIn(ctx, user, found.tenant)
			web.SetTenant(c, user.TenantSlug)
			web.SetPlan(c, found.tenant.PlanType)
			web.SetUser(c, user.ID)
		}
		c.SetRequest(c.Request().WithContext(ctx))
		return next(c)
	}
}

// Assume makes the request that of user, who came without a session.
func (m *Manager) Assume(c echo.Context, user User, tenant tenancy.Tenant) error {
	ctx, err := m.scs.Load(c.Request().Context(), "")
	if err != nil {
		return err
	}
	web.SetPlan(c, tenant.PlanType)
	c.SetRequest(c.Request().WithContext(signedIn(ctx, user, tenant)))
	web.SetUser(c, user.ID)
	return nil
}

// signedIn is ctx with the user and the tenant. The user's plan is the
// registry's, whatever it was at sign-in or in a token: it may have changed.
func signedIn(ctx context.Context, user User, tenant tenancy.Tenant) context.Context {
	user.PlanType = tenant.PlanType
	return tenancy.WithTenant(tenancy.WithActor(context.WithValue(ctx, userCtxKey{}, user), user.ID), tenant)
}

// Require is the middleware that lets only signed-in requests through: a page
// is sent to /login and comes back, anything that wants JSON gets 401.
func (m *Manager) Require(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if _, ok := From(c.Request().Context()); ok {
			return next(c)
		}
		if web.WantsJSON(c) {
			return echo.NewHTTPError(http.StatusUnauthorized, "Sign in first.")
		}
		return c.Redirect(http.StatusSeeOther, "/login?return_to="+url.QueryEscape(m.returnTo(c.Request())))
	}
}

// returnTo is the page to come back to: this one, or for a form the page that
// it stood on. The request's Host says nothing here: whose address this server
// has is a setting.
func (m *Manager) returnTo(r *http.Request) string {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return r.URL.RequestURI()
	}
	if from, err := url.Parse(r.Referer()); err == nil && from.Host == m.host && from.Path != "" {
		return from.RequestURI()
	}
	return "/"
}
