package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

const planKey = "plan"

// SetPlan has RequirePlan and Page.HasPlan know the plan of who is signed in.
func SetPlan(c echo.Context, plan string) { c.Set(planKey, plan) }

// RequirePlan is middleware that lets only tenants with one of these plans
// through, in whatever case they are written. Others get 403, as a page or as a
// problem document, which names the plan that is needed, and somebody who is
// not signed in 401.
func RequirePlan(plans ...string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			plan, signedIn := c.Get(planKey).(string)
			switch {
			case !signedIn:
				return &Problem{Status: http.StatusUnauthorized, Message: "Sign in first.", Action: Action{"Sign in", "/login"}}
			case !isOneOf(plan, plans):
				return &Problem{
					Status: http.StatusForbidden, Title: "Not part of your plan",
					Message: "This needs the plan " + strings.Join(plans, " or ") + ". Ask whoever manages your subscription.",
				}
			}
			return next(c)
		}
	}
}

// HasPlan reports whether who is signed in has one of these plans, in whatever
// case they are written: {{if .HasPlan "Pro"}}.
func (p Page) HasPlan(plans ...string) bool { return isOneOf(p.plan, plans) }

func isOneOf(plan string, plans []string) bool {
	return slices.ContainsFunc(plans, func(p string) bool { return strings.EqualFold(p, plan) })
}
