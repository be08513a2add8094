package server_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/tenancy/commands/flags"
)

// Events that came before PLAN_EVENTS named them are tried by the same command
// as those that came before their handler.
func TestCLI_IgnoredEventsThatChangeAPlanAreTried(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"PLAN_EVENTS": "other"}})
	site.Subscribe(t, "acme", handlertest.Plan("Pro"))
	site.Event(t, "subscription.updated", "acme", map[string]string{"planType": "Team"})
	env := map[string]string{"DATABASE_URL": site.Database, "FIXTURE_GREETING": "Hello", "PLAN_EVENTS": "other"}
	retry := []string{"retry", "--ignored", "subscription.updated"}
	c, out := commandLine(env)
	if err := c.Events(t.Context(), retry); !errors.Is(err, flags.ErrUsage) {
		t.Errorf("not named yet: %v", err)
	}
	env["PLAN_EVENTS"] = "tenant.cancelled"
	if err := c.Events(t.Context(), retry); !errors.Is(err, flags.ErrUsage) || !strings.Contains(err.Error(), "PLAN_EVENTS must not name") {
		t.Errorf("a lifecycle event: %v", err)
	}
	delete(env, "PLAN_EVENTS")
	if err := c.Events(t.Context(), retry); err != nil || !strings.Contains(out.String(), ": 1\n") {
		t.Errorf("%q, %v", out.String(), err)
	}
	site.Replica(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"PLAN_EVENTS": "subscription.updated"}})
	handlertest.Await(t, "the plan is changed", func() bool {
		return handlertest.Query[string](t, site, `SELECT plan_type FROM public.tenants`) == "Team"
	})
}
