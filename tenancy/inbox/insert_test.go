package inbox_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync/atomic"
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

// send delivers an event and returns what its sender will be told.
func (d *harness) send(e inbox.Delivery) <-chan answer {
	told := make(chan answer, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		outcome, err := d.inbox.Deliver(ctx, e)
		told <- answer{outcome, err}
	}()
	return told
}

// busy keeps every connection for storing busy until release.
func (d *harness) busy(t *testing.T) (release func()) {
	t.Helper()
	pgtest.Exec(t, d.url, `
		CREATE TABLE IF NOT EXISTS public.held (event_type text);
		INSERT INTO public.held VALUES ('held');
		CREATE OR REPLACE FUNCTION public.hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			WHILE EXISTS (SELECT FROM public.held) LOOP PERFORM pg_sleep(0.002); END LOOP;
			RETURN NEW;
		END $$;
		CREATE OR REPLACE TRIGGER hold BEFORE INSERT ON public.webhook_events FOR EACH ROW WHEN (NEW.event_type = 'held') EXECUTE FUNCTION public.hold()`)
	for i := range 2 {
		d.send(delivery("held", "", rand.Text()))
		await(t, "a statement is under way", func() bool {
			return pgtest.Query[int](t, d.url, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`) == i+1
		})
	}
	return func() { t.Helper(); pgtest.Exec(t, d.url, `DELETE FROM public.held`) }
}

// together delivers events that arrive, in this order, while every connection
// for storing is in use, and returns what their senders are told.
func (d *harness) together(t *testing.T, events ...inbox.Delivery) (answers []answer) {
	t.Helper()
	release := d.busy(t)
	var waiting []<-chan answer
	for i, e := range events {
		waiting = append(waiting, d.send(e))
		await(t, "it has arrived", func() bool { return d.inbox.ArrivalsWaiting() == i+1 })
	}
	release()
	for _, told := range waiting {
		answers = append(answers, <-told)
	}
	return answers
}

func wantAnswers(t *testing.T, got []answer, want ...inbox.Outcome) {
	t.Helper()
	for i, a := range got {
		if a.err != nil || a.outcome != want[i] {
			t.Errorf("sender %d is told %d (%v), want %d", i, a.outcome, a.err, want[i])
		}
	}
}

// wantOneStatement wants the newest events stored by one: they were received a
// microsecond after each other.
func (d *harness) wantOneStatement(t *testing.T, events int) {
	t.Helper()
	if one := pgtest.Query[bool](t, d.url, `SELECT max(received_at) - min(received_at) < interval '20 microseconds'
		FROM (SELECT received_at FROM public.webhook_events ORDER BY received_at DESC LIMIT $1) e`, events); !one {
		t.Errorf("%d events were stored by more than one statement", events)
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
	d.wantOneStatement(t, 7)
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
	var counted atomic.Int64
	o := quick
	o.Observe = func(eventType string, _ inbox.Outcome) {
		if eventType == "tenant.cancelled" {
			counted.Add(1)
		}
	}
	d := newHarness(t, o, nil)
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	same, end := delivery("effect", "acme", ""), delivery("tenant.cancelled", "globex", "")
	d.want(t, inbox.Applied, "subscription.created", "globex", "")
	got := d.together(t, same, end, same, end, same)
	wantAnswers(t, got, inbox.Applied, inbox.Applied, inbox.Applied, inbox.Applied, inbox.Applied)
	d.wantTenant(t, "globex", "cancelled")
	if n := d.effects(t, "acme"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	if n := counted.Load(); n != 1 {
		t.Errorf("one cancellation is counted %d times", n)
	}
	d.wantOneStatement(t, 2)
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

// Who delivers an event again that another transaction is deleting, for its
// tenant is purged, waits alone.
func TestInsert_WhoWaitsForAnotherTransactionWaitsAlone(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	for _, slug := range []string{"acme", "globex"} {
		d.want(t, inbox.Applied, "subscription.created", slug, "")
	}
	var again []inbox.Delivery
	for _, salt := range []string{"1", "2", "3"} {
		d.want(t, inbox.Applied, "effect", "acme", salt)
		again = append(again, delivery("effect", "acme", salt))
	}
	release, purge := d.busy(t), pgtest.Connect(t, d.url)
	defer purge.Close(context.Background())
	if _, err := purge.Exec(t.Context(), `BEGIN; DELETE FROM public.webhook_events WHERE event_type = 'effect'`); err != nil {
		t.Fatal(err)
	}
	var stuck []<-chan answer
	for i, e := range append(again, delivery("effect", "globex", "")) {
		stuck = append(stuck, d.send(e))
		await(t, "it has arrived", func() bool { return d.inbox.ArrivalsWaiting() == i+1 })
	}
	release()
	wantAnswers(t, []answer{<-stuck[3]}, inbox.Applied)
	d.want(t, inbox.Applied, "effect", "globex", "while they go on waiting")
	for _, told := range stuck[:3] {
		select {
		case a := <-told:
			t.Errorf("a sender whose event is being deleted is told %v (%v) before that is over", a.outcome, a.err)
		default:
		}
	}
	if _, err := purge.Exec(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	for _, told := range stuck[:3] {
		wantAnswers(t, []answer{<-told}, inbox.Applied)
	}
}

// Of plans that came in one statement the later one stays, whichever event is
// applied first.
func TestInsert_ThePlanThatCameLaterStays(t *testing.T) {
	t.Parallel()
	o := quick
	o.PlanEvents, o.Plan = []string{"plan.changed"}, func(body []byte) string {
		var event struct{ Salt string }
		_ = json.Unmarshal(body, &event)
		return event.Salt
	}
	d := newHarness(t, o, nil)
	d.want(t, inbox.Applied, "subscription.created", "acme", "first")
	d.together(t, delivery("plan.changed", "acme", "second"), delivery("subscription.created", "acme", "third"))
	if plan := pgtest.Query[string](t, d.url, `SELECT plan_type FROM public.tenants`); plan != "third" {
		t.Errorf("the plan is %s, want the third, which came last", plan)
	}
}
