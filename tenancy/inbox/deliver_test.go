package inbox_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

func TestDeliver_AppliesAnEventAndItsTenantIsReady(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	id := d.want(t, inbox.Applied, "subscription.created", "acme", "")
	if got := d.status(t, id); got != "done" {
		t.Errorf("the event is %s", got)
	}
	d.wantTenant(t, "acme", "active")
}

func TestDeliver_RejectsWhatCanNeverSucceedWithTheReason(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, inbox.Handlers{"never": {Lifecycle: true,
		Apply: func(context.Context, pgx.Tx, inbox.Event) error { return inbox.Permanent(errors.New("no way")) }}})
	for salt, c := range map[string]struct{ eventType, slug string }{
		"none": {"subscription.created", ""}, "bad": {"subscription.created", "Not A Slug"}, "perm": {"never", "acme"},
	} {
		for range 2 { // and again at the redelivery
			id := d.want(t, inbox.Rejected, c.eventType, c.slug, salt)
			if d.status(t, id) != "failed" || d.lastError(t, id) == "" {
				t.Errorf("%s: %s, %q", salt, d.status(t, id), d.lastError(t, id))
			}
		}
	}
}

func TestDeliver_StoresAnUnknownTypeAsIgnored(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	if id := d.want(t, inbox.Unhandled, "news", "acme", ""); d.status(t, id) != "ignored" {
		t.Errorf("stored as %s", d.status(t, id))
	}
}

// An event that failed stays pending, is tried again by itself, and has its
// effect once.
func TestDeliver_AFailedEventHealsByItself(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	broken.Store(true)
	d := newHarness(t, quick, inbox.Handlers{"shaky": {Apply: func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		if err := recordEffect(ctx, tx, e); err != nil {
			return err
		}
		if broken.Load() && e.Attempt%2 == 0 {
			panic("boom")
		} else if broken.Load() {
			return errBoom
		}
		return nil
	}}})
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	id := d.want(t, inbox.FailedOnce, "shaky", "acme", "")
	if got := d.status(t, id); got != "pending" {
		t.Fatalf("%s, want pending", got)
	}
	d.run(t)
	await(t, "it was tried three times", func() bool { return d.attempts(t, id) >= 3 })
	broken.Store(false)
	d.awaitStatus(t, id, "done")
	if n := d.effects(t, "acme"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

// A handler that ends its goroutine has failed, and holds nothing.
func TestDeliver_AHandlerThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	var exits atomic.Bool
	exits.Store(true)
	d := newHarness(t, quick, inbox.Handlers{"shaky": {Apply: func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		if exits.Load() {
			runtime.Goexit()
		}
		return recordEffect(ctx, tx, e)
	}}})
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	id := d.want(t, inbox.FailedOnce, "shaky", "acme", "")
	if said := d.lastError(t, id); !strings.Contains(said, "runtime.Goexit") {
		t.Errorf("%q, want to be told why", said)
	}
	exits.Store(false)
	d.run(t)
	d.awaitStatus(t, id, "done")
}

func TestDeliver_AttemptsAreCapped(t *testing.T) {
	t.Parallel()
	o := quick
	o.MaxAttempts = 3
	d := newHarness(t, o, inbox.Handlers{"bad": {Lifecycle: true, Apply: failing}})
	id, _ := d.deliver(t, "bad", "acme", "")
	d.run(t)
	d.awaitStatus(t, id, "failed")
	if n := d.attempts(t, id); n != 3 {
		t.Errorf("%d attempts, want 3", n)
	}
	if n := pgtest.Query[int](t, d.url, `SELECT count(*) FROM public.webhook_attempts WHERE event_id = $1`, id); n != 3 {
		t.Errorf("%d attempts in the history, want 3", n)
	}
}

// What PostgreSQL cannot store of an error must not keep the attempt from being
// recorded.
func TestDeliver_AnErrorOfAnyBytesIsKept(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, inbox.Handlers{"odd": {Lifecycle: true, Apply: func(context.Context, pgx.Tx, inbox.Event) error {
		return errors.New("\x00\xff" + strings.Repeat("long", 10_000))
	}}})
	id, _ := d.deliver(t, "odd", "acme", "")
	if n := len(d.lastError(t, id)); n < 1000 || n > 5000 {
		t.Errorf("%d bytes are kept of an error of 40,000", n)
	}
}

func TestDeliver_ASlowTenantHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	d := newHarness(t, quick, inbox.Handlers{"wait": {Apply: waitFor(release)}})
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	outcome, err := d.inbox.Deliver(ctx, delivery("wait", "acme", ""))
	if outcome != inbox.Accepted || err != nil {
		t.Errorf("a slow event: %v, %v, want accepted", outcome, err)
	}
	d.want(t, inbox.Applied, "subscription.created", "globex", "")
	close(release)
	await(t, "the slow event is done", func() bool { return d.effects(t, "acme") == 1 })
}

// waitFor records its effect once release is closed.
func waitFor(release <-chan struct{}) inbox.Apply {
	return func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		select {
		case <-release:
			return recordEffect(ctx, tx, e)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Handlers that say that they are slow, of many tenants, leave room for a quick
// one.
func TestDeliver_SlowHandlersHoldUpNoQuickOne(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	d := newHarness(t, quick, inbox.Handlers{"slow": {Apply: waitFor(release), Slow: true}})
	d.run(t)
	tenants := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, slug := range append(tenants, "quick") {
		d.want(t, inbox.Applied, "subscription.created", slug, "")
	}
	for _, slug := range tenants {
		d.leave(t, delivery("slow", slug, ""))
	}
	await(t, "some of them run", func() bool {
		return pgtest.Query[int](t, d.url, `SELECT count(*) FROM public.webhook_events WHERE claimed_by IS NOT NULL`) >= 2
	})
	began := time.Now()
	d.want(t, inbox.Applied, "effect", "quick", "")
	if took := time.Since(began); took > 3*time.Second { // the slow ones take until they are released
		t.Errorf("a quick event took %v", took)
	}
	close(release)
	for _, slug := range tenants {
		await(t, "the slow event of "+slug+" is done", func() bool { return d.effects(t, slug) == 1 })
	}
}

// What finds no slot for slow handlers goes back as if it had never been taken:
// the wait costs no attempt, and touches nobody else's event.
func TestDeliver_ASlowEventWithoutASlotIsGivenBack(t *testing.T) {
	t.Parallel()
	running, release := make(chan struct{}, 3), make(chan struct{})
	defer close(release)
	d := newHarness(t, inbox.Options{Lease: time.Hour}, inbox.Handlers{"slow": {Slow: true,
		Apply: func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
			running <- struct{}{}
			return waitFor(release)(ctx, tx, e)
		}}})
	for _, slug := range []string{"a", "b", "c"} {
		d.want(t, inbox.Applied, "subscription.created", slug, "")
	}
	for _, slug := range []string{"a", "b"} { // the two slots
		go func() { _, _ = d.inbox.Deliver(t.Context(), delivery("slow", slug, "")) }()
	}
	others := func() string {
		return pgtest.Query[string](t, d.url, `SELECT coalesce(string_agg(concat_ws(' ', id, attempts, claimed_by, next_attempt_at), ', ' ORDER BY id), '')
			FROM public.webhook_events WHERE tenant_slug <> 'c' OR event_type <> 'slow'`)
	}
	<-running
	<-running
	before := others()
	go func() { _, _ = d.inbox.Deliver(t.Context(), delivery("slow", "c", "")) }()
	await(t, "it is given back", func() bool {
		return pgtest.Query[bool](t, d.url, `SELECT coalesce(bool_or(attempts = 0 AND claimed_by IS NULL
			AND next_attempt_at > received_at AND next_attempt_at <= now()), false)
			FROM public.webhook_events WHERE tenant_slug = 'c' AND event_type = 'slow'`)
	})
	if after := others(); after != before {
		t.Errorf("the others' events are %s, were %s", after, before)
	}
}

// With every connection of the requests in use, events are applied.
func TestDeliver_NeedsNoConnectionOfTheRequests(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	d = openHarness(t, tenancy.Options{URL: d.url, Tenant: effects, MaxConns: 2}, quick, nil)
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	tenant, err := d.db.Tenant(t.Context(), slugOf(t, "acme"))
	if err != nil {
		t.Fatal(err)
	}
	stuck, release := make(chan struct{}, 2), make(chan struct{})
	var requests sync.WaitGroup
	for range 2 {
		requests.Go(func() {
			_ = d.db.InTx(tenancy.WithTenant(context.Background(), tenant), func(pgx.Tx) error { stuck <- struct{}{}; <-release; return nil })
		})
	}
	<-stuck
	<-stuck
	began := time.Now()
	for _, slug := range []string{"globex", "initech"} {
		d.want(t, inbox.Applied, "subscription.created", slug, "")
		d.want(t, inbox.Applied, "effect", slug, "")
	}
	if took := time.Since(began); took > 3*time.Second { // one that waits for a request waits for 4 s
		t.Errorf("two events of two tenants took %v", took)
	}
	close(release)
	requests.Wait()
}

// An event that is answered with an error of storing is not there later.
func TestDeliver_WhatCannotBeStoredInTimeIsNotStoredLater(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	release := pgtest.Lock(t, d.url, "public.webhook_events IN SHARE MODE")
	var senders sync.WaitGroup
	for i := range 20 { // more than there are connections
		senders.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			defer cancel()
			if outcome, err := d.inbox.Deliver(ctx, delivery("subscription.created", "t"+strings.Repeat("x", i), "")); err == nil {
				t.Errorf("outcome %v, want an error", outcome)
			}
		})
	}
	senders.Wait()
	release()
	d.want(t, inbox.Applied, "subscription.created", "acme", "") // whatever was on its way has arrived
	if n := pgtest.Query[int](t, d.url, `SELECT count(*) FROM public.webhook_events`); n != 1 {
		t.Errorf("%d events are stored, want the last one alone", n)
	}
}
