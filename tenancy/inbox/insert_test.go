package inbox_test

import (
	"context"
	"testing"
	"time"

	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// answer is what a sender is told.
type answer struct {
	outcome inbox.Outcome
	err     error
}

// together delivers events that arrive, in this order, while every connection
// for storing is in use, and returns what their senders are told.
func (d *harness) together(t *testing.T, events ...inbox.Delivery) (answers []answer) {
	t.Helper()
	release := pgtest.Lock(t, d.url, "public.webhook_events IN SHARE MODE")
	send := func(e inbox.Delivery) <-chan answer {
		told := make(chan answer, 1)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			outcome, err := d.inbox.Deliver(ctx, e)
			told <- answer{outcome, err}
		}()
		return told
	}
	var waiting []<-chan answer
	for i, salt := range []string{"one", "two"} {
		waiting = append(waiting, send(delivery("nobody's", "", salt)))
		await(t, "a statement waits", func() bool { return pgtest.Waiting(t, d.url) == i+1 })
	}
	for i, e := range events {
		waiting = append(waiting, send(e))
		await(t, "it has arrived", func() bool { return d.inbox.ArrivalsWaiting() == i+1 })
	}
	release()
	for _, told := range waiting {
		answers = append(answers, <-told)
	}
	return answers[2:]
}

func wantAnswers(t *testing.T, got []answer, want ...inbox.Outcome) {
	t.Helper()
	for i, a := range got {
		if a.err != nil || a.outcome != want[i] {
			t.Errorf("sender %d is told %d (%v), want %d", i, a.outcome, a.err, want[i])
		}
	}
}

// Events that arrive together are stored by one statement, each judged by
// itself: its own tenant's state, and none before it that was not.
func TestInsert_EventsThatArriveTogether(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	for _, slug := range []string{"acme", "globex", "initech"} {
		d.want(t, inbox.Applied, "subscription.created", slug, "")
	}
	pgtest.Exec(t, d.url, `
		INSERT INTO public.sessions (token_hash, tenant_slug, data, expires_at)
		SELECT sha256(slug::bytea), slug, '', now() + interval '1 day' FROM public.tenants`)
	got := d.together(t,
		delivery("tenant.cancelled", "acme", ""),
		delivery("effect", "globex", "1"),
		delivery("effect", "globex", "2"),
		delivery("tenant.cancelled", "nowhere", ""),
		delivery("news", "initech", ""),
		delivery("effect", "", ""),
		delivery("subscription.created", "initech", "again"),
	)
	wantAnswers(t, got, inbox.Applied, inbox.Applied, inbox.Applied, inbox.Applied, inbox.Unhandled, inbox.Rejected, inbox.Applied)
	d.wantTenant(t, "acme", "cancelled")
	d.wantTenant(t, "globex", "active")
	d.wantTenant(t, "initech", "active")
	if n := d.effects(t, "globex"); n != 2 {
		t.Errorf("%d effects, want 2", n)
	}
	if left := pgtest.Query[string](t, d.url, `SELECT string_agg(tenant_slug, ' ' ORDER BY tenant_slug) FROM public.sessions`); left != "globex initech" {
		t.Errorf("sessions of %s are left", left)
	}
	if n := pgtest.Query[int](t, d.url, `SELECT count(*) FROM public.audit_log WHERE action = 'cancel' AND tenant_slug = 'acme'`); n != 1 {
		t.Errorf("the audit log has %d cancellations", n)
	}
	if n := pgtest.Query[int](t, d.url, `SELECT count(DISTINCT received_at) FROM public.webhook_events WHERE tenant_slug <> ''
		AND received_at > (SELECT max(created_at) FROM public.sessions)`); n != 1 {
		t.Errorf("they were stored by %d statements", n)
	}
}

// The last word about a tenant is the last, in one statement too.
func TestInsert_TheOrderWithinATenantIsTheArrivals(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	for _, last := range []struct{ event, status string }{{"tenant.cancelled", "cancelled"}, {"subscription.created", "active"}} {
		salt := last.status
		d.together(t, delivery("tenant.cancelled", "acme", "1"+salt), delivery("subscription.created", "acme", "2"+salt),
			delivery("effect", "acme", "3"+salt), delivery(last.event, "acme", "4"+salt))
		d.wantTenant(t, "acme", last.status)
	}
	await(t, "every effect is there", func() bool { return d.effects(t, "acme") == 2 })
}

func TestInsert_TheSameBytesTogetherAreOneEvent(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	same, end := delivery("effect", "acme", ""), delivery("tenant.cancelled", "globex", "")
	d.want(t, inbox.Applied, "subscription.created", "globex", "")
	got := d.together(t, same, end, same, end, same)
	wantAnswers(t, got, inbox.Applied, inbox.Applied, inbox.Applied, inbox.Applied, inbox.Applied)
	d.wantTenant(t, "globex", "cancelled")
	if n := d.effects(t, "acme"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	if n := pgtest.Query[int](t, d.url, `SELECT count(DISTINCT received_at) FROM public.webhook_events WHERE event_type IN ('effect', 'tenant.cancelled')`); n != 1 {
		t.Errorf("they were stored by %d statements", n)
	}
}

// What the server refuses of one event is told to its sender alone.
func TestInsert_OneThatCannotBeStoredHarmsNobody(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	bad := delivery("effect", "acme", "bad")
	bad.SignedWith = "nobody"
	got := d.together(t, delivery("subscription.created", "acme", ""), bad, delivery("subscription.created", "globex", ""))
	if got[1].err == nil {
		t.Errorf("the sender of what cannot be stored is told %v", got[1].outcome)
	}
	wantAnswers(t, []answer{got[0], got[2]}, inbox.Applied, inbox.Applied)
	d.wantTenant(t, "acme", "active")
	d.wantTenant(t, "globex", "active")
}
