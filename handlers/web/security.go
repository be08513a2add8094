package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"
)

// Headers sets what every answer carries. Pages are private: styles and pictures
// from here, and with scripts, files of scripts from here too, which may fetch
// from here; else no script at all.
func Headers(platform *url.URL, secure, scripts bool) echo.MiddlewareFunc {
	policy := contentPolicy(platform, scripts)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Set(secureKey, secure)
			h := c.Response().Header()
			h.Set(echo.HeaderContentSecurityPolicy, policy)
			h.Set(echo.HeaderXContentTypeOptions, "nosniff")
			h.Set(echo.HeaderXFrameOptions, "DENY")
			h.Set(echo.HeaderReferrerPolicy, "same-origin")
			h.Set("Cross-Origin-Resource-Policy", "same-origin")
			h.Set(echo.HeaderCacheControl, "no-store")
			if secure {
				h.Set("Cross-Origin-Opener-Policy", "same-origin")
				h.Set(echo.HeaderStrictTransportSecurity, "max-age=63072000; includeSubDomains")
			}
			return next(c)
		}
	}
}

// contentPolicy is the content security policy. Forms may lead to the platform,
// since one that is sent when the session has ended is redirected there.
func contentPolicy(platform *url.URL, scripts bool) string {
	policy := []string{
		"default-src 'none'", "style-src 'self'", "img-src 'self'", "font-src 'self'",
		"form-action 'self' " + platform.Scheme + "://" + platform.Host,
		"base-uri 'none'", "frame-ancestors 'none'",
	}
	if scripts {
		policy = append(policy, "script-src 'self'", "connect-src 'self'")
	}
	return strings.Join(policy, "; ")
}

// NoReferrer keeps addresses of the path, which carry a code, from being told to
// anybody, whatever is answered there and whoever answers.
func NoReferrer(path string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if c.Request().URL.Path == path {
				c.Response().Header().Set(echo.HeaderReferrerPolicy, "no-referrer")
			}
			return next(c)
		}
	}
}

// SameOrigin refuses writes that another site's page makes a browser send.
// Programs, which send no Origin, pass: they carry no one's cookie. So does what
// matches signed, a pattern of http.ServeMux: a signature stands for its sender.
func SameOrigin(public *url.URL, signed string) (echo.MiddlewareFunc, error) {
	protection := http.NewCrossOriginProtection()
	if err := protection.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
		return nil, err
	}
	protection.AddInsecureBypassPattern(signed)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if err := protection.Check(c.Request()); err != nil {
				return &Problem{Status: http.StatusForbidden, Message: "This request came from another site.", Cause: err}
			}
			return next(c)
		}
	}, nil
}
