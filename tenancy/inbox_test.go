package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// effects counts what events did, for exactly once is told by effects alone.
var effects = files("000001_effects.up.sql", "CREATE TABLE effects (event bigint NOT NULL)")

// desk is an inbox on a database of its own.
type desk struct {
	url   string
	db    *tenancy.DB
	inbox *tenancy.Inbox
}

var quick = tenancy.InboxOptions{Poll: 10 * time.Millisecond, FirstRetry: 5 * time.Millisecond, Lease: 100 * time.Millisecond}

// newDesk has the two handlers of the contract, and "effect" which records that
// it ran; more adds to these.
func newDesk(t testing.TB, o tenancy.InboxOptions, more tenancy.EventHandlers) *desk {
	t.Helper()
	url := pgtest.URL(t)
	return joinDesk(t, url, o, more)
}

// joinDesk is one more replica on the same database.
func joinDesk(t testing.TB, url string, o tenancy.InboxOptions, more tenancy.EventHandlers) *desk {
	t.Helper()
	db := open(t, tenancy.Options{URL: url, Tenant: effects})
	handlers := tenancy.EventHandlers{
		"subscription.created": {Apply: db.OnSubscriptionCreated, NewTenant: true},
		"tenant.cancelled":     {Apply: db.OnTenantCancelled, NewTenant: true, Overrides: true},
		"effect":               {Apply: recordEffect},
	}
	for eventType, h := range more {
		handlers[eventType] = h
	}
	d := &desk{url: url, db: db, inbox: db.NewInbox(handlers, o)}
	t.Cleanup(func() { d.inbox.Close(context.Background()) })
	return d
}

func recordEffect(ctx context.Context, tx pgx.Tx, e tenancy.Event) error {
	_, err := tx.Exec(ctx, `INSERT INTO effects (event) VALUES ($1)`, e.ID)
	return err
}

// deliver stores and processes an event as the receiver does.
func (d *desk) deliver(t testing.TB, eventType, slug, salt string) (tenancy.Stored, tenancy.Outcome) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	stored, err := d.inbox.Store(ctx, delivery(eventType, slug, salt))
	if err != nil {
		t.Fatal(err)
	}
	return stored, d.inbox.Process(ctx, stored)
}

func delivery(eventType, slug, salt string) tenancy.Delivery {
	body := fmt.Sprintf(`{"eventType":%q,"tenantSlug":%q,"salt":%q}`, eventType, slug, salt)
	return tenancy.Delivery{Type: eventType, Tenant: slug, Body: []byte(body), SignedWith: "current"}
}

// run has the replica's worker take up what is left, until the test ends.
func (d *desk) run(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); d.inbox.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

func (d *desk) status(t testing.TB, id int64) string {
	return query[string](t, d.url, `SELECT status FROM public.webhook_events WHERE id = $1`, id)
}

func (d *desk) tenantStatus(t testing.TB, slug string) string {
	return query[string](t, d.url, `SELECT coalesce((SELECT status FROM public.tenants WHERE slug = $1), 'none')`, slug)
}

// await waits until the condition holds.
func await(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestAnEventIsAppliedAndItsTenantReady(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick, nil)
	stored, outcome := d.deliver(t, "subscription.created", "acme", "")
	if outcome != tenancy.Done || d.status(t, stored.ID) != "done" || d.tenantStatus(t, "acme") != "active" {
		t.Errorf("outcome %v, event %s, tenant %s", outcome, d.status(t, stored.ID), d.tenantStatus(t, "acme"))
	}
}

func TestTheSameBytesWithinADayHaveOneEffect(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick, nil)
	other := joinDesk(t, d.url, quick, nil)
	d.deliver(t, "subscription.created", "acme", "")
	var wg sync.WaitGroup
	for i := range 20 { // at the same instant, at two replicas
		wg.Go(func() {
			if _, outcome := []*desk{d, other}[i%2].deliver(t, "effect", "acme", "same"); outcome != tenancy.Done {
				t.Errorf("outcome %v, want done", outcome)
			}
		})
	}
	wg.Wait()
	if n := query[int](t, d.url, `SELECT count(*) FROM tenant_acme.effects`); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	exec(t, d.url, `UPDATE public.webhook_events SET processed_at = processed_at - interval '25 hours'`)
	if stored, outcome := d.deliver(t, "effect", "acme", "same"); stored.Repeated || outcome != tenancy.Done {
		t.Errorf("a day later: %+v, %v; want a new event", stored, outcome)
	}
	if n := query[int](t, d.url, `SELECT count(*) FROM tenant_acme.effects`); n != 2 {
		t.Errorf("%d effects after a day, want 2", n)
	}
}

func TestWhatCanNeverSucceedIsRejectedWithTheReason(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick, tenancy.EventHandlers{"never": {
		Apply:     func(context.Context, pgx.Tx, tenancy.Event) error { return tenancy.Permanent(errors.New("no way")) },
		NewTenant: true,
	}})
	for salt, c := range map[string]struct{ eventType, slug string }{
		"none": {"subscription.created", ""}, "bad": {"subscription.created", "Not A Slug"}, "perm": {"never", "acme"},
	} {
		for range 2 { // and again at the redelivery
			stored, outcome := d.deliver(t, c.eventType, c.slug, salt)
			if outcome != tenancy.Rejected || d.status(t, stored.ID) != "failed" {
				t.Errorf("%s: outcome %v, status %s", salt, outcome, d.status(t, stored.ID))
			}
			if query[string](t, d.url, `SELECT last_error FROM public.webhook_events WHERE id = $1`, stored.ID) == "" {
				t.Errorf("%s: no reason is kept", salt)
			}
		}
	}
}

func TestAFailedEventStaysAndHealsByItself(t *testing.T) {
	t.Parallel()
	var broken sync.Map
	broken.Store("on", true)
	d := newDesk(t, quick, tenancy.EventHandlers{"shaky": {Apply: func(ctx context.Context, tx pgx.Tx, e tenancy.Event) error {
		if err := recordEffect(ctx, tx, e); err != nil {
			return err
		}
		if _, on := broken.Load("on"); on && e.Attempt%2 == 0 {
			panic("boom")
		} else if on {
			return errors.New("boom")
		}
		return nil
	}}})
	d.deliver(t, "subscription.created", "acme", "")
	stored, outcome := d.deliver(t, "shaky", "acme", "")
	if outcome != tenancy.FailedNow || d.status(t, stored.ID) != "pending" {
		t.Fatalf("outcome %v, status %s; want to be tried again", outcome, d.status(t, stored.ID))
	}
	d.run(t)
	attempts := func() int {
		return query[int](t, d.url, `SELECT count(*) FROM public.webhook_attempts WHERE event_id = $1`, stored.ID)
	}
	await(t, "it was tried three times", func() bool { return attempts() >= 3 })
	broken.Delete("on")
	await(t, "it is done", func() bool { return d.status(t, stored.ID) == "done" })
	if n := query[int](t, d.url, `SELECT count(*) FROM tenant_acme.effects`); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

func TestAttemptsAreCapped(t *testing.T) {
	t.Parallel()
	o := quick
	o.MaxAttempts = 3
	d := newDesk(t, o, tenancy.EventHandlers{"bad": {NewTenant: true,
		Apply: func(context.Context, pgx.Tx, tenancy.Event) error { return errors.New("boom") }}})
	stored, _ := d.deliver(t, "bad", "acme", "")
	d.run(t)
	await(t, "it is failed", func() bool { return d.status(t, stored.ID) == "failed" })
	if n := query[int](t, d.url, `SELECT attempts FROM public.webhook_events WHERE id = $1`, stored.ID); n != 3 {
		t.Errorf("%d attempts, want 3", n)
	}
}

func TestEventsOfATenantKeepTheirOrder(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick, nil)
	d.deliver(t, "subscription.created", "acme", "")
	var ids []int64
	for i := range 20 { // stored and left, as by a process that was killed
		stored, err := d.inbox.Store(t.Context(), delivery("effect", "acme", strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, stored.ID)
	}
	exec(t, d.url, `UPDATE public.webhook_events SET next_attempt_at = now() - interval '1 s' * random()`)
	d.run(t)
	joinDesk(t, d.url, quick, nil).run(t)
	await(t, "all are done", func() bool {
		return query[int](t, d.url, `SELECT count(*) FROM tenant_acme.effects`) == len(ids)
	})
	if !query[bool](t, d.url, `SELECT array_agg(event ORDER BY ctid) = array_agg(event ORDER BY event) FROM tenant_acme.effects`) {
		t.Error("events were applied out of order")
	}
}

func TestACancellationOvertakesAFailingEventAndMakesItVoid(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick, tenancy.EventHandlers{"bad": {
		Apply: func(context.Context, pgx.Tx, tenancy.Event) error { return errors.New("boom") }}})
	d.deliver(t, "subscription.created", "acme", "")
	bad, _ := d.deliver(t, "bad", "acme", "")
	behind, outcome := d.deliver(t, "effect", "acme", "")
	if outcome != tenancy.Accepted {
		t.Errorf("an event behind a failing one: %v, want accepted", outcome)
	}
	if _, outcome := d.deliver(t, "tenant.cancelled", "acme", ""); outcome != tenancy.Done {
		t.Errorf("cancellation: %v, want done", outcome)
	}
	if d.status(t, bad.ID) != "done" || d.status(t, behind.ID) != "done" || d.tenantStatus(t, "acme") != "cancelled" {
		t.Errorf("bad %s, behind %s, tenant %s", d.status(t, bad.ID), d.status(t, behind.ID), d.tenantStatus(t, "acme"))
	}
	if n := query[int](t, d.url, `SELECT count(*) FROM tenant_acme.effects`); n != 0 {
		t.Error("a void event had an effect")
	}
}

func TestALateRedeliveryDoesNotBringACancelledTenantBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick, nil)
	d.deliver(t, "subscription.created", "acme", "first")
	d.deliver(t, "tenant.cancelled", "acme", "")
	if _, outcome := d.deliver(t, "subscription.created", "acme", "first"); outcome != tenancy.Done {
		t.Errorf("redelivery: %v, want done without effect", outcome)
	}
	exec(t, d.url, `UPDATE public.webhook_events SET processed_at = processed_at - interval '3 days', received_at = received_at - interval '3 days'`)
	if _, outcome := d.deliver(t, "subscription.created", "acme", "first"); outcome != tenancy.Done {
		t.Errorf("later redelivery: %v, want done without effect", outcome)
	}
	if got := d.tenantStatus(t, "acme"); got != "cancelled" {
		t.Errorf("tenant is %s after redeliveries, want cancelled", got)
	}
	d.deliver(t, "subscription.created", "acme", "second")
	if got := d.tenantStatus(t, "acme"); got != "active" {
		t.Errorf("tenant is %s after a new subscription, want active", got)
	}
}

func TestASlowTenantHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	d := newDesk(t, quick, tenancy.EventHandlers{"slow": {Apply: func(ctx context.Context, tx pgx.Tx, e tenancy.Event) error {
		select {
		case <-release:
			return recordEffect(ctx, tx, e)
		case <-ctx.Done():
			return ctx.Err()
		}
	}}})
	d.deliver(t, "subscription.created", "acme", "")
	stored, err := d.inbox.Store(t.Context(), delivery("slow", "acme", ""))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if outcome := d.inbox.Process(ctx, stored); outcome != tenancy.Accepted {
		t.Errorf("a slow event: %v, want accepted", outcome)
	}
	if _, outcome := d.deliver(t, "subscription.created", "globex", ""); outcome != tenancy.Done {
		t.Errorf("another tenant meanwhile: %v, want done", outcome)
	}
	close(release)
	await(t, "the slow event is done", func() bool { return d.status(t, stored.ID) == "done" })
}

func TestFinishedEventsGoAfterTheirRetention(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick, nil)
	d.deliver(t, "subscription.created", "acme", "")
	d.deliver(t, "tenant.exploded", "acme", "")  // ignored
	d.deliver(t, "subscription.created", "", "") // failed: a person has to see it
	exec(t, d.url, `UPDATE public.webhook_events SET processed_at = now() - interval '91 days'`)
	tenancy.Sweep(t.Context(), d.inbox)
	if got := query[string](t, d.url, `SELECT string_agg(status, ',') FROM public.webhook_events`); got != "failed" {
		t.Errorf("left are %s, want the failed one alone", got)
	}
}
