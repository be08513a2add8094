package web_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/handlers/web"
)

func planSite(t *testing.T) *handlertest.Site {
	t.Helper()
	p := fixture.With(func(r server.Routes) {
		show := func(c echo.Context) error { return c.Render(http.StatusOK, "plan.html", nil) }
		r.User.GET("/reports", show, web.RequirePlan("Pro", "Team"))
		r.User.GET("/api/reports", show, web.RequirePlan("Pro", "Team"))
		r.Public.GET("/offer", show)
		r.Public.GET("/members-only", show, web.RequirePlan("Pro"))
	})
	p.Templates = fstest.MapFS{
		"layout.html": {Data: []byte(`{{template "main" .}}`)},
		"plan.html":   {Data: []byte(`{{define "main"}}{{if .HasPlan "Pro" "Team"}}reports{{else}}upgrade{{end}}{{end}}`)},
		"error.html":  {Data: []byte(`{{define "main"}}<h1>{{.Data.Title}}</h1>{{.Data.Message}}{{end}}`)},
	}
	return handlertest.Start(t, p, handlertest.Setup{})
}

func TestRequirePlan_LetsThePlansThroughInAnyCase(t *testing.T) {
	t.Parallel()
	site := planSite(t)
	for slug, c := range map[string]struct {
		plan    string
		allowed bool
	}{"a": {"Pro", true}, "b": {"pRO", true}, "c": {"TEAM", true}, "d": {"Basic", false}, "e": {"Pro Plus", false}} {
		name, allowed := c.plan, c.allowed
		b := site.SignIn(t, slug, handlertest.Plan(name))
		page, api, offer := b.Get("/reports"), b.Get("/api/reports"), b.Get("/offer")
		if got := page.Status == http.StatusOK; got != allowed || (api.Status == http.StatusOK) != allowed {
			t.Errorf("%s: page %d, API %d", name, page.Status, api.Status)
		}
		if offer.Body != map[bool]string{true: "reports", false: "upgrade"}[allowed] {
			t.Errorf("%s: the template shows %s", name, offer.Body)
		}
		if allowed {
			continue
		}
		if page.Status != http.StatusForbidden || !strings.Contains(page.Body, "<h1>Not part of your plan</h1>This needs the plan Pro or Team.") {
			t.Errorf("%s: %d %s; want a page that names the plan", name, page.Status, page.Body)
		}
		if api.Status != http.StatusForbidden || api.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(api.Body, "Pro or Team") {
			t.Errorf("%s: %d %s; want a problem that names the plan", name, api.Status, api.Body)
		}
	}
}

// A change of the plan opens and closes at the next request.
func TestRequirePlan_KnowsThePlanOfNow(t *testing.T) {
	t.Parallel()
	site := planSite(t)
	b := site.SignIn(t, "acme", handlertest.Plan("Basic"))
	for plan, want := range map[string]int{"Team": http.StatusOK, "Basic": http.StatusForbidden} {
		if _, err := site.Platform.ChangePlan(t.Context(), "acme", plan); err != nil {
			t.Fatal(err)
		}
		if answer := b.Get("/reports"); answer.Status != want {
			t.Errorf("%s: %d, want %d", plan, answer.Status, want)
		}
	}
}

func TestRequirePlan_OfNobodyIsASignIn(t *testing.T) {
	t.Parallel()
	site := planSite(t)
	b := site.Browser(t)
	if answer := b.Get("/members-only"); answer.Status != http.StatusUnauthorized || !strings.Contains(answer.Body, "Sign in first.") {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if answer := b.Get("/offer"); answer.Status != http.StatusOK || answer.Body != "upgrade" {
		t.Errorf("the template, to nobody: %d %s", answer.Status, answer.Body)
	}
}
