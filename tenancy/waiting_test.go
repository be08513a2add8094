package tenancy_test

import (
	"strings"
	"testing"
	"time"

	"example.com/subproduct/tenancy"
)

// An event that came before its tenant is due when the tenant is there, and not
// only when its own patience says so.
func TestAnEventThatWaitsForItsTenantIsWokenByIt(t *testing.T) {
	t.Parallel()
	o := quick
	o.FirstRetry = time.Hour
	d := newDesk(t, o, nil)
	early, outcome := d.deliver(t, "effect", "acme", "")
	if outcome != tenancy.FailedNow {
		t.Fatalf("before its tenant: %v", outcome)
	}
	d.run(t)
	d.deliver(t, "subscription.created", "acme", "")
	await(t, "the early event is done", func() bool { return d.status(t, early.ID) == "done" })
	if n := query[int](t, d.url, `SELECT count(*) FROM tenant_acme.effects`); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

// One that waited in vain for a tenant which was cancelled before it came to be
// is void; one whose tenant nobody ever heard of is a person's business.
func TestAnEventThatWaitedInVain(t *testing.T) {
	t.Parallel()
	o := quick
	o.MaxAttempts = 2
	d := newDesk(t, o, nil)
	d.run(t)
	d.deliver(t, "tenant.cancelled", "gone", "")
	late, _ := d.deliver(t, "effect", "gone", "")
	lost, _ := d.deliver(t, "effect", "nobody", "")
	await(t, "both are finished", func() bool {
		return query[int](t, d.url, `SELECT count(*) FROM public.webhook_events WHERE status = 'pending'`) == 0
	})
	if got := d.status(t, late.ID); got != "done" {
		t.Errorf("of the cancelled tenant: %s, want done", got)
	}
	why := query[string](t, d.url, `SELECT last_error FROM public.webhook_events WHERE id = $1`, late.ID)
	if !strings.Contains(why, "no such tenant") {
		t.Errorf("it does not say why: %s", why)
	}
	if got := d.status(t, lost.ID); got != "failed" {
		t.Errorf("of the unknown tenant: %s, want failed", got)
	}
}
