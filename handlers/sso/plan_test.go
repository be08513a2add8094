package sso_test

import (
	"net/http"
	"testing"
)

// A token says what plan there was when it was issued: that opens nothing.
func TestBearer_ThePlanIsTheRegistrys(t *testing.T) {
	t.Parallel()
	site := tokenSite(t)
	site.Subscribe(t, "acme")
	old := token(t, site, "u-acme", "")
	if _, err := site.Platform.ChangePlan(t.Context(), "acme", "Basic"); err != nil {
		t.Fatal(err)
	}
	var me struct{ PlanType string }
	site.Browser(t).Do(http.MethodGet, "/api/me", nil, with(old)).JSON(t, &me)
	if me.PlanType != "Basic" {
		t.Errorf("%s, want the plan of now", me.PlanType)
	}
}
