package inbox_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

func TestOrder_EventsOfATenantAreAppliedAsReceived(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	const events = 40
	for i := range events {
		d.leave(t, delivery("effect", "acme", strconv.Itoa(i)))
	}
	pgtest.Exec(t, d.url, `UPDATE public.webhook_events SET next_attempt_at = now() - interval '1 s' * random()`)
	d.run(t)
	joinHarness(t, d.url, quick, nil).run(t)
	await(t, "all are done", func() bool { return d.effects(t, "acme") == events })
	if !pgtest.Query[bool](t, d.url, `SELECT array_agg(event ORDER BY ctid) = array_agg(event ORDER BY event) FROM tenant_acme.effects`) {
		t.Error("events were applied out of order")
	}
}

// A backlog of one tenant shrinks while more arrive.
func TestOrder_ABacklogDrainsUnderSteadyArrivals(t *testing.T) {
	t.Parallel()
	d := newHarness(t, inbox.Options{}, nil) // with production's delays
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	for i := range 200 {
		d.leave(t, delivery("effect", "acme", strconv.Itoa(i)))
	}
	d.run(t)
	arrived := 200
	await(t, "nothing is pending", func() bool {
		d.deliver(t, "effect", "acme", fmt.Sprint("later", arrived))
		arrived++
		return pgtest.Query[int](t, d.url, `SELECT count(*) FROM public.webhook_events WHERE status = 'pending'`) == 0
	})
	if n := d.effects(t, "acme"); n != arrived {
		t.Errorf("%d effects of %d events", n, arrived)
	}
}

// A cancellation overtakes what fails; what it overtakes has its effect all the
// same, or is failed for a person to see.
func TestOrder_ACancellationOvertakesAndVoidsNoEventOfTheProduct(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	broken.Store(true)
	d := newHarness(t, quick, inbox.Handlers{"bad": {Apply: func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		if broken.Load() {
			return errBoom
		}
		return recordEffect(ctx, tx, e)
	}}})
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	bad := d.want(t, inbox.FailedOnce, "bad", "acme", "")
	behind := d.want(t, inbox.Accepted, "effect", "acme", "")
	d.want(t, inbox.Applied, "tenant.cancelled", "acme", "")
	d.wantTenant(t, "acme", "cancelled")
	broken.Store(false)
	d.run(t)
	d.awaitStatus(t, bad, "done")
	d.awaitStatus(t, behind, "done")
	if n := d.effects(t, "acme"); n != 2 {
		t.Errorf("%d effects, want 2", n)
	}
	d.wantTenant(t, "acme", "cancelled")
}

// An event and a cancellation at the same moment, again and again.
func TestOrder_AnEventBesideACancellationHasItsEffect(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	d.run(t)
	for i := range 20 {
		slug := fmt.Sprintf("t%d", i)
		d.want(t, inbox.Applied, "subscription.created", slug, "")
		var both sync.WaitGroup
		for _, eventType := range []string{"effect", "tenant.cancelled"} {
			both.Go(func() { d.deliver(t, eventType, slug, "") })
		}
		both.Wait()
		await(t, "the event has its effect", func() bool { return d.effects(t, slug) == 1 })
		d.wantTenant(t, slug, "cancelled")
	}
}

// The newest lifecycle event wins, whatever order they are tried in.
func TestOrder_AnOlderLifecycleEventIsVoid(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	ids := d.leave(t, delivery("subscription.created", "acme", "1"), delivery("tenant.cancelled", "acme", "2"),
		delivery("subscription.created", "acme", "3"), delivery("tenant.cancelled", "acme", "4"))
	d.leave(t, delivery("subscription.created", "globex", "1"), delivery("tenant.cancelled", "globex", "2"),
		delivery("subscription.created", "globex", "3"))
	d.run(t)
	await(t, "all are done", func() bool {
		return pgtest.Query[int](t, d.url, `SELECT count(*) FROM public.webhook_events WHERE status <> 'done'`) == 0
	})
	d.wantTenant(t, "acme", "none") // cancelled before it ever was
	d.wantTenant(t, "globex", "active")
	for _, id := range ids[:3] {
		if want := fmt.Sprintf("void: superseded by event %d", ids[3]); d.lastError(t, id) != want {
			t.Errorf("%q, want %q", d.lastError(t, id), want)
		}
	}
}

// An event of a cancelled tenant that never succeeds does not keep a
// new subscription waiting.
func TestOrder_APoisonEventDoesNotStopANewSubscription(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, inbox.Handlers{"bad": {Apply: failing}})
	d.want(t, inbox.Applied, "subscription.created", "acme", "1")
	d.want(t, inbox.Applied, "tenant.cancelled", "acme", "1")
	d.want(t, inbox.FailedOnce, "bad", "acme", "")
	d.want(t, inbox.Applied, "subscription.created", "acme", "2")
	d.wantTenant(t, "acme", "active")
}

// An event that came before the one that makes its tenant waits for that one,
// and is due as soon as the tenant is there.
func TestOrder_AnEventThatWaitsForItsTenantIsWokenByIt(t *testing.T) {
	t.Parallel()
	o := quick
	o.FirstRetry = time.Hour
	d := newHarness(t, o, nil)
	early := d.want(t, inbox.FailedOnce, "effect", "acme", "")
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	d.awaitStatus(t, early, "done")
	if n := d.effects(t, "acme"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

// The same, when both were left by a process that was killed.
func TestOrder_ThePollerMakesTheTenantFirst(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	ids := d.leave(t, delivery("effect", "acme", ""), delivery("subscription.created", "acme", ""))
	d.run(t)
	d.awaitStatus(t, ids[0], "done")
}

// One whose tenant never comes is failed, for a person to see.
func TestOrder_AnEventOfAnUnknownTenantFails(t *testing.T) {
	t.Parallel()
	o := quick
	o.MaxAttempts = 2
	d := newHarness(t, o, nil)
	d.run(t)
	d.want(t, inbox.Applied, "tenant.cancelled", "gone", "")
	for _, slug := range []string{"gone", "nobody"} {
		id, _ := d.deliver(t, "effect", slug, "")
		d.awaitStatus(t, id, "failed")
		if got := d.lastError(t, id); got != slug+": no such tenant" {
			t.Errorf("%s: %q", slug, got)
		}
	}
}

// New deliveries must not use up the attempts of an older event that fails.
func TestOrder_DeliveriesDoNotSpendTheAttemptsOfAnOlderEvent(t *testing.T) {
	t.Parallel()
	o := quick
	o.FirstRetry = time.Hour
	d := newHarness(t, o, inbox.Handlers{"bad": {Apply: failing}})
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	bad := d.want(t, inbox.FailedOnce, "bad", "acme", "")
	for i := range 5 {
		d.want(t, inbox.Accepted, "effect", "acme", fmt.Sprint(i))
	}
	if n := d.attempts(t, bad); n != 1 {
		t.Errorf("%d attempts at the older event, want 1", n)
	}
}

// A replica of an older program leaves an event of a type that it does not know
// to newer ones, counts no attempt, and keeps the order behind it.
func TestOrder_AnUnknownTypeStopsAnOlderReplica(t *testing.T) {
	t.Parallel()
	older := newHarness(t, quick, nil)
	newer := joinHarness(t, older.url, quick, inbox.Handlers{"news": {Apply: recordEffect}})
	older.want(t, inbox.Applied, "subscription.created", "acme", "")
	news := older.leave(t, delivery("news", "acme", ""))[0]
	older.run(t)
	behind := older.want(t, inbox.Accepted, "effect", "acme", "")
	if n := older.attempts(t, news); n != 0 || older.status(t, behind) != "pending" {
		t.Errorf("%d attempts at the unknown one, and the one behind it is %s", n, older.status(t, behind))
	}
	newer.run(t)
	older.awaitStatus(t, behind, "done")
	if !pgtest.Query[bool](t, older.url, `SELECT array_agg(event ORDER BY ctid) = array_agg(event ORDER BY event) AND count(*) = 2 FROM tenant_acme.effects`) {
		t.Error("out of order")
	}
}
