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

// From returns who is signed in.
func From(ctx context.Context) (User, bool) {
	place := placeIn(ctx)
	return place.user, place.signedIn
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
		place, err := m.find(c.Request().Context(), token)
		if err != nil {
			return fmt.Errorf("%w: %w", web.ErrUnavailable, err)
		}
		ctx := context.WithValue(c.Request().Context(), loadedKey{}, place)
		if user, ok := place.data.user(); ok && user.TenantSlug == place.tenant.Slug.String() {
			ctx = signIn(c, ctx, user, place.tenant)
		}
		c.SetRequest(c.Request().WithContext(ctx))
		return next(c)
	}
}

// find looks the session up. scs reads it when something is to be written.
func (m *Manager) find(ctx context.Context, token string) (*loaded, error) {
	if token == "" {
		return &loaded{}, nil
	}
	data, tenant, found, err := m.db.FindSession(ctx, token)
	if err != nil || !found {
		return &loaded{}, err
	}
	return &loaded{token: token, tenant: tenant, data: data}, nil
}

// open returns the request's context with scs' view of the session.
func (m *Manager) open(c echo.Context) (context.Context, error) {
	ctx := c.Request().Context()
	place, there := ctx.Value(loadedKey{}).(*loaded)
	if !there {
		place = &loaded{}
		ctx = context.WithValue(ctx, loadedKey{}, place)
	}
	if place.open {
		return ctx, nil
	}
	ctx, err := m.scs.Load(ctx, place.token)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", web.ErrUnavailable, err)
	}
	place.open = true
	c.SetRequest(c.Request().WithContext(ctx))
	return ctx, nil
}

// Assume makes the request that of user, who came without a session.
func (m *Manager) Assume(c echo.Context, user User, tenant tenancy.Tenant) {
	ctx := context.WithValue(c.Request().Context(), loadedKey{}, &loaded{})
	c.SetRequest(c.Request().WithContext(signIn(c, ctx, user, tenant)))
}

// signIn is ctx with the user and the tenant. The user's plan is the registry's,
// whatever it was at sign-in or in a token: it may have changed.
func signIn(c echo.Context, ctx context.Context, user User, tenant tenancy.Tenant) context.Context {
	user.PlanType = tenant.PlanType
	place := placeIn(ctx)
	place.user, place.signedIn = user, true
	web.SetTenant(c, user.TenantSlug)
	web.SetPlan(c, tenant.PlanType)
	web.SetUser(c, user.ID)
	return tenancy.WithTenant(tenancy.WithActor(ctx, user.ID), tenant)
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
