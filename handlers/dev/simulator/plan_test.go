package simulator

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

// The console changes a plan: the event says so, and user-info from then on.
func TestSimulator_ChangePlanFromTheConsole(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	submit(t, browser(t), d.url+"/_sim/plan", d.url+"/", url.Values{"slug": {"acme"}, "plan": {"Enterprise"}})
	if sent := d.Deliveries()[0]; sent.EventType != "subscription.updated" || !strings.Contains(sent.Body, `"planType":"Enterprise"`) {
		t.Errorf("sent %s %s", sent.EventType, sent.Body)
	}
	if info, err := d.client().Exchange(t.Context(), d.code(t, "ada")); err != nil || info.PlanType != "Enterprise" {
		t.Errorf("user-info says %q, %v", info.PlanType, err)
	}
}

func TestSimulator_ChangePlanNeedsASubscriptionAndAPlan(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.AddTenant("bare", "Bare", "")
	for slug, plan := range map[string]string{"acme": "", "bare": "Pro"} {
		if _, err := d.ChangePlan(t.Context(), slug, plan); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s to %q: %v", slug, plan, err)
		}
	}
	if n := len(d.Deliveries()); n != 0 {
		t.Errorf("%d events were sent", n)
	}
}
