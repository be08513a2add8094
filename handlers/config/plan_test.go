package config_test

import (
	"slices"
	"strings"
	"testing"
)

func TestPlanEvents_AreNoLifecycleEvents(t *testing.T) {
	t.Parallel()
	for value, wrong := range map[string]string{
		"": "", "a.b, c.d": "", "subscription.created": `"subscription.created"`, "a,tenant.cancelled": `"tenant.cancelled"`,
	} {
		env := complete()
		env["PLAN_EVENTS"] = value
		c, err := load(env)
		if wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), "PLAN_EVENTS must not name "+wrong)) {
			t.Errorf("%q: %v", value, err)
		}
		if value == "a.b, c.d" && !slices.Equal(c.PlanEvents, []string{"a.b", "c.d"}) {
			t.Errorf("%q: %q", value, c.PlanEvents)
		}
	}
}
