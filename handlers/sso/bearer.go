package sso

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/handlers/session"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
)

const wwwAuthenticate = "WWW-Authenticate"

// Identify is the middleware that finds out who asks: by the session's cookie,
// or below /api/, where Tokens is set, by the platform's token (contract,
// section 5). A request with a token stands and falls with it, whatever cookies
// it has.
func (s *SSO) Identify(next echo.HandlerFunc) echo.HandlerFunc {
	bySession := s.Sessions.Load(next)
	return func(c echo.Context) error {
		if s.Tokens == nil || !strings.HasPrefix(c.Request().URL.Path, "/api/") {
			return bySession(c)
		}
		c.Response().Header().Add(echo.HeaderVary, echo.HeaderAuthorization)
		token, found := bearer(c.Request().Header)
		if found {
			return s.byToken(c, token, next)
		}
		response := c.Response()
		response.Before(func() {
			if response.Status == http.StatusUnauthorized {
				response.Header().Set(wwwAuthenticate, "Bearer")
			}
		})
		return bySession(c)
	}
}

// bearer takes the token out of a request. Two Authorization headers are no
// token, but a wrong one: which of them a proxy checked is not known.
func bearer(h http.Header) (token string, found bool) {
	values := h.Values(echo.HeaderAuthorization)
	for _, v := range values {
		parts := strings.Fields(v)
		if len(parts) == 0 || !strings.EqualFold(parts[0], "Bearer") {
			continue
		}
		found = true
		if len(parts) == 2 {
			token = parts[1]
		}
	}
	if len(values) > 1 {
		token = ""
	}
	return token, found
}

// byToken serves the request as whom the token is about. The tenant must be
// known here and active: a token makes none. It costs one round trip.
func (s *SSO) byToken(c echo.Context, token string, next echo.HandlerFunc) error {
	ctx := c.Request().Context()
	info, err := s.Tokens.Verify(ctx, token)
	if err != nil {
		return tokenProblem(c, err)
	}
	user, slug, err := s.admit(info)
	if errors.Is(err, tenancy.ErrBadSlug) {
		return tokenProblem(c, fmt.Errorf("%w: %w", platform.ErrBadToken, err))
	}
	if err != nil {
		return err
	}
	web.SetTenant(c, slug.String())
	tenant, err := s.DB.Tenant(ctx, slug)
	switch {
	case errors.Is(err, tenancy.ErrUnknownTenant):
		return echo.NewHTTPError(http.StatusForbidden, "This workspace is not here yet. Sign in with a browser once.")
	case err != nil:
		return fmt.Errorf("%w: %w", web.ErrUnavailable, err)
	case tenant.Status != tenancy.Active:
		return notAllowed("tenant", tenant.Status)
	}
	s.Sessions.Assume(c, user, tenant)
	return next(c)
}

// tokenProblem tells a program that its token is no good (RFC 6750, section 3),
// and not why.
func tokenProblem(c echo.Context, err error) error {
	if !errors.Is(err, platform.ErrBadToken) {
		return fmt.Errorf("%w: %w", web.ErrUnavailable, err)
	}
	c.Response().Header().Set(wwwAuthenticate, `Bearer error="invalid_token"`)
	return &web.Problem{Status: http.StatusUnauthorized, Message: "This token is not valid here.", Cause: err}
}

// admit decides, the same for a code and for a token, whether whom the platform
// vouches for may come in. It returns tenancy.ErrBadSlug, or the 403 page that
// names the status.
func (s *SSO) admit(info platform.UserInfo) (session.User, tenancy.Slug, error) {
	slug, err := tenancy.ParseSlug(info.TenantSlug)
	if err != nil {
		return session.User{}, slug, err
	}
	if !s.permitted(info.SubscriptionStatus) {
		return session.User{}, slug, notAllowed("subscription", info.SubscriptionStatus)
	}
	if info.TenantStatus != "" && !s.permitted(info.TenantStatus) {
		return session.User{}, slug, notAllowed("tenant", info.TenantStatus)
	}
	return session.User{
		ID: info.UserID, Email: info.Email, TenantSlug: info.TenantSlug,
		PlanType: info.PlanType, SubscriptionStatus: info.SubscriptionStatus,
	}, slug, nil
}
