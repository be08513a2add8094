package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

var errBoom = errors.New("boom")

func failing(context.Context, pgx.Tx, tenancy.Event) error { return errBoom }

func (d *desk) attempts(t testing.TB, id int64) int {
	return query[int](t, d.url, `SELECT attempts FROM public.webhook_events WHERE id = $1`, id)
}

// An event that came before the one that makes its tenant waits for that one,
// and not that one for it.
func TestWhatMakesATenantWaitsForNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick, nil)
	early, outcome := d.deliver(t, "effect", "acme", "")
	if outcome != tenancy.FailedNow {
		t.Errorf("without its tenant: %v, want failed this time", outcome)
	}
	if _, outcome := d.deliver(t, "subscription.created", "acme", ""); outcome != tenancy.Done {
		t.Errorf("the event that makes the tenant: %v, want done", outcome)
	}
	d.run(t)
	await(t, "the early event is done", func() bool { return d.status(t, early.ID) == "done" })
}

// The same, when both were left by a process that was killed.
func TestTheWorkerMakesTheTenantFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick, nil)
	for _, eventType := range []string{"effect", "subscription.created"} {
		if _, err := d.inbox.Store(t.Context(), delivery(eventType, "acme", "")); err != nil {
			t.Fatal(err)
		}
	}
	d.run(t)
	await(t, "all are done", func() bool {
		return query[int](t, d.url, `SELECT count(*) FROM public.webhook_events WHERE status = 'done'`) == 2
	})
}

// New deliveries must not use up the attempts of an older event that fails.
func TestDeliveriesDoNotSpendTheAttemptsOfAnOlderEvent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick, tenancy.EventHandlers{"bad": {Apply: failing}})
	d.deliver(t, "subscription.created", "acme", "")
	bad, _ := d.deliver(t, "bad", "acme", "")
	for i := range 5 {
		if _, outcome := d.deliver(t, "effect", "acme", fmt.Sprint(i)); outcome != tenancy.Accepted {
			t.Errorf("behind it: %v, want accepted", outcome)
		}
	}
	if n := d.attempts(t, bad.ID); n != 1 {
		t.Errorf("%d attempts at the older event, want 1", n)
	}
}

// Whoever waits for a tenant that another process has to itself holds up no
// other tenant.
func TestABusyTenantKeepsNoSlot(t *testing.T) {
	t.Parallel()
	o := quick
	o.Concurrency, o.Lease = 1, time.Minute
	d := newDesk(t, o, nil)
	d.run(t)
	d.deliver(t, "subscription.created", "acme", "")
	conn, err := pgx.Connect(t.Context(), d.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock(x'73756270'::int, hashtext('acme'))`); err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	for i := range 3 {
		waiting.Go(func() {
			if _, outcome := d.deliver(t, "effect", "acme", fmt.Sprint(i)); outcome != tenancy.Accepted {
				t.Errorf("of a busy tenant: %v, want accepted", outcome)
			}
		})
	}
	await(t, "somebody waits", func() bool {
		return query[bool](t, d.url, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`)
	})
	began := time.Now()
	if _, outcome := d.deliver(t, "subscription.created", "globex", ""); outcome != tenancy.Done || time.Since(began) > 3*time.Second {
		t.Errorf("another tenant: %v after %v, want done at once", outcome, time.Since(began))
	}
	waiting.Wait()
	_ = conn.Close(context.Background())
	await(t, "the busy tenant's events are done", func() bool {
		return query[int](t, d.url, `SELECT count(*) FROM tenant_acme.effects`) == 3
	})
	if n := query[int](t, d.url, `SELECT count(*) FROM public.webhook_attempts WHERE error IS NOT NULL`); n != 0 {
		t.Errorf("%d failed attempts are on record, though none was made", n)
	}
}

// What PostgreSQL cannot store of an error must not keep the attempt from being
// counted.
func TestAnErrorOfAnyBytesIsKept(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick, tenancy.EventHandlers{"odd": {NewTenant: true, Apply: func(context.Context, pgx.Tx, tenancy.Event) error {
		return errors.New("\x00\xff" + strings.Repeat("long", 10_000))
	}}})
	stored, _ := d.deliver(t, "odd", "acme", "")
	if n := d.attempts(t, stored.ID); n != 1 {
		t.Errorf("%d attempts are counted, want 1", n)
	}
	if n := query[int](t, d.url, `SELECT length(last_error) FROM public.webhook_events WHERE id = $1`, stored.ID); n < 1000 || n > 5000 {
		t.Errorf("%d characters are kept of an error of 40,000", n)
	}
}

// A redelivery is judged anew: the settings or the program may have changed.
func TestARedeliveryOfWhatNobodyCouldHandle(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick, nil)
	d.deliver(t, "subscription.created", "acme", "")
	unknown := delivery("effect", "", "")
	ignored, _ := d.deliver(t, "news", "acme", "")
	if stored, err := d.inbox.Store(t.Context(), unknown); err != nil || stored.Status != tenancy.EventFailed {
		t.Fatalf("without a tenant: %+v, %v", stored, err)
	}
	newer := joinDesk(t, d.url, quick, tenancy.EventHandlers{"news": {Apply: recordEffect}})
	unknown.Tenant = "acme" // now that its field is known
	stored, err := newer.inbox.Store(t.Context(), unknown)
	if err != nil || newer.inbox.Process(t.Context(), stored) != tenancy.Done {
		t.Errorf("with a tenant: %+v, %v", stored, err)
	}
	if again, outcome := newer.deliver(t, "news", "acme", ""); outcome != tenancy.Done || again.ID != ignored.ID {
		t.Errorf("with a handler: %+v, %v", again, outcome)
	}
	if n := query[int](t, d.url, `SELECT count(*) FROM tenant_acme.effects`); n != 2 {
		t.Errorf("%d effects, want 2", n)
	}
}

// Two replicas that are flooded with the same events in different orders, in
// batches that hold copies.
func TestAFloodOfTheSameEventsIsStoredOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick, nil)
	replicas := []*desk{d, joinDesk(t, d.url, quick, nil)}
	const events = 200
	var first atomic.Int64
	var senders sync.WaitGroup
	for i := range 4 * events {
		n := i / 2 // to the one replica upwards, to the other downwards, each event twice
		if i%2 == 1 {
			n = 2*events - 1 - n
		}
		senders.Go(func() {
			stored, err := replicas[i%2].inbox.Store(t.Context(), delivery("news", "acme", fmt.Sprint(n/2)))
			if err != nil {
				t.Error(err)
			} else if !stored.Repeated {
				first.Add(1)
			}
		})
	}
	senders.Wait()
	if n := query[int64](t, d.url, `SELECT count(*) FROM public.webhook_events`); n != events || first.Load() != events {
		t.Errorf("%d events are stored and %d taken for new ones, want %d", n, first.Load(), events)
	}
}

// The inbox behind a pooler in transaction mode, with more clients than
// connections.
func TestTheInboxThroughAPooler(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	d := joinDesk(t, pgtest.Pooler(t, direct), quick, tenancy.EventHandlers{"bad": {Apply: failing}})
	d.run(t)
	joinDesk(t, d.url, quick, nil).run(t)
	var senders sync.WaitGroup
	for i := range 10 {
		senders.Go(func() {
			slug := fmt.Sprintf("t%d", i)
			d.deliver(t, "subscription.created", slug, "")
			for n := range 5 {
				d.deliver(t, "effect", slug, fmt.Sprint(n))
				d.deliver(t, "effect", slug, fmt.Sprint(n)) // a copy
			}
		})
	}
	senders.Wait()
	await(t, "all are done", func() bool {
		return query[int](t, direct, `SELECT count(*) FROM public.webhook_events WHERE status <> 'done'`) == 0
	})
	for i := range 10 {
		if n := query[int](t, direct, fmt.Sprintf(`SELECT count(*) FROM tenant_t%d.effects`, i)); n != 5 {
			t.Errorf("t%d: %d effects, want 5", i, n)
		}
	}
}

// What an operator has tried again, after a cancellation that came later, must
// not undo that.
func TestARetryDoesNotUndoALaterCancellation(t *testing.T) {
	t.Parallel()
	var refusing sync.Map
	refusing.Store("on", true)
	d := newDesk(t, quick, nil)
	d = joinDesk(t, d.url, quick, tenancy.EventHandlers{"renew": {NewTenant: true, Apply: func(ctx context.Context, tx pgx.Tx, e tenancy.Event) error {
		if _, on := refusing.Load("on"); on {
			return tenancy.Permanent(errBoom)
		}
		return d.db.OnSubscriptionCreated(ctx, tx, e)
	}}})
	d.deliver(t, "subscription.created", "acme", "")
	renewal, _ := d.deliver(t, "renew", "acme", "")
	d.deliver(t, "tenant.cancelled", "acme", "")
	refusing.Delete("on")
	if err := d.db.RetryEvent(t.Context(), renewal.ID); err != nil {
		t.Fatal(err)
	}
	d.run(t)
	await(t, "the renewal is done", func() bool { return d.status(t, renewal.ID) == "done" })
	if got := d.tenantStatus(t, "acme"); got != "cancelled" {
		t.Errorf("the tenant is %s, want cancelled", got)
	}
}
