package inbox_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

func TestRepeat_TheSameBytesWithinADayHaveOneEffect(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	other := joinHarness(t, d.url, quick, nil)
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	var wg sync.WaitGroup
	for i := range 20 { // at the same instant, at two replicas
		wg.Go(func() { []*harness{d, other}[i%2].want(t, inbox.Applied, "effect", "acme", "same") })
	}
	wg.Wait()
	d.want(t, inbox.Applied, "tenant.cancelled", "acme", "")
	d.want(t, inbox.Applied, "effect", "acme", "same") // a change of state makes no new event of it
	if n := d.effects(t, "acme"); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	pgtest.Exec(t, d.url, `UPDATE public.webhook_events SET processed_at = processed_at - interval '23 hours'`)
	d.want(t, inbox.Applied, "effect", "acme", "same")
	if n := d.effects(t, "acme"); n != 1 {
		t.Errorf("%d effects after 23 hours, want 1", n)
	}
	pgtest.Exec(t, d.url, `UPDATE public.webhook_events SET processed_at = processed_at - interval '2 hours'`)
	d.want(t, inbox.Applied, "effect", "acme", "same")
	if n := d.effects(t, "acme"); n != 2 {
		t.Errorf("%d effects after a day, want 2", n)
	}
}

// The platform may say the same words twice and mean them twice: its bodies
// hold neither id nor time.
func TestRepeat_TheSameLifecycleBytesAfterAChangeAreNew(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	for range 3 {
		d.want(t, inbox.Applied, "subscription.created", "acme", "same")
		d.wantTenant(t, "acme", "active")
		d.want(t, inbox.Applied, "subscription.created", "acme", "same") // a copy of the newest is none
		d.want(t, inbox.Applied, "tenant.cancelled", "acme", "same")
		d.want(t, inbox.Applied, "tenant.cancelled", "acme", "same")
		d.wantTenant(t, "acme", "cancelled")
	}
	if n := pgtest.Query[int](t, d.url, `SELECT count(*) FROM public.webhook_events`); n != 6 {
		t.Errorf("%d events, want 6", n)
	}
	d.want(t, inbox.Applied, "subscription.created", "acme", "pro")
	d.want(t, inbox.Applied, "tenant.cancelled", "acme", "same")
	d.wantTenant(t, "acme", "cancelled")
}

// A command of an operator is a change, too.
func TestRepeat_TheSameLifecycleBytesAfterACommandAreNew(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	slug := slugOf(t, "acme")
	d.want(t, inbox.Applied, "subscription.created", "acme", "same")
	if err := d.db.Cancel(t.Context(), slug); err != nil {
		t.Fatal(err)
	}
	d.want(t, inbox.Applied, "subscription.created", "acme", "same")
	d.wantTenant(t, "acme", "active")
	d.want(t, inbox.Applied, "tenant.cancelled", "acme", "same")
	if err := d.db.Restore(t.Context(), slug); err != nil {
		t.Fatal(err)
	}
	d.want(t, inbox.Applied, "tenant.cancelled", "acme", "same")
	d.wantTenant(t, "acme", "cancelled")
	if err := d.db.Purge(t.Context(), slug); err != nil {
		t.Fatal(err)
	}
	if n := pgtest.Query[int](t, d.url, `SELECT count(*) FROM public.webhook_events`); n != 0 {
		t.Errorf("%d events of a purged tenant are kept, with their bodies", n)
	}
	d.want(t, inbox.Applied, "subscription.created", "acme", "same")
	d.wantTenant(t, "acme", "active")
}

// Bytes that were applied once, and now mean a new event that fails, are not
// taken for done: the platform goes on sending them.
func TestRepeat_ANewMeaningThatFailsIsNotTheOldOne(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	d := newHarness(t, inbox.Options{FirstRetry: time.Hour}, inbox.Handlers{"subscription.created": {
		Apply: func(context.Context, pgx.Tx, inbox.Event) error {
			if fails.Load() {
				return errBoom
			}
			return nil
		}}})
	first := d.want(t, inbox.Applied, "subscription.created", "acme", "same")
	if err := d.db.Cancel(t.Context(), slugOf(t, "acme")); err != nil {
		t.Fatal(err)
	}
	fails.Store(true)
	for attempt := 1; attempt <= 3; attempt++ {
		id := d.want(t, inbox.FailedOnce, "subscription.created", "acme", "same")
		if got := d.attempts(t, id); id == first || got != attempt {
			t.Errorf("event %d after %d has %d attempts, want %d", id, first, got, attempt)
		}
	}
	d.wantTenant(t, "acme", "cancelled")
	fails.Store(false)
	d.want(t, inbox.Applied, "subscription.created", "acme", "same")
	d.wantTenant(t, "acme", "active")
	if got := d.attempts(t, first); got != 1 {
		t.Errorf("the first event has %d attempts now", got)
	}
}

// After a day the same bytes are a new event. The old one, which failed, is left
// to a person, however often they come.
func TestRepeat_AFailureOfYesterdayIsNotRevived(t *testing.T) {
	t.Parallel()
	var works atomic.Bool
	d := newHarness(t, inbox.Options{MaxAttempts: 1}, inbox.Handlers{"sale": {Apply: func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		if !works.Load() {
			return errBoom
		}
		return recordEffect(ctx, tx, e)
	}}})
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	old := d.want(t, inbox.Rejected, "sale", "acme", "")
	pgtest.Exec(t, d.url, `UPDATE public.webhook_events SET processed_at = processed_at - interval '25 hours'`)
	works.Store(true)
	for range 3 {
		d.want(t, inbox.Applied, "sale", "acme", "")
	}
	if status, n := d.status(t, old), d.effects(t, "acme"); status != "failed" || n != 1 {
		t.Errorf("yesterday's is %s, %d effects; want it failed, and 1", status, n)
	}
}

// The platform's retry of what was never answered 2xx is no new event, whatever
// came since.
func TestRepeat_ARetryOfWhatWasNotAnsweredStaysVoid(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	pgtest.Exec(t, d.url, `CREATE SCHEMA tenant_acme; CREATE TABLE tenant_acme.effects ()`) // so that the migration fails
	d.want(t, inbox.FailedOnce, "subscription.created", "acme", "same")
	d.want(t, inbox.Applied, "tenant.cancelled", "acme", "")
	pgtest.Exec(t, d.url, `DROP TABLE tenant_acme.effects`)
	d.want(t, inbox.Applied, "subscription.created", "acme", "same")
	d.wantTenant(t, "acme", "none")
	d.want(t, inbox.Applied, "subscription.created", "acme", "same") // now it was answered: said again, it is meant again
	d.wantTenant(t, "acme", "active")
}

// A redelivery is judged anew: the settings or the program may have changed.
func TestRepeat_ARedeliveryOfWhatNobodyCouldHandle(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	unknown := delivery("effect", "", "")
	ignored := d.want(t, inbox.Unhandled, "news", "acme", "")
	if outcome, err := d.inbox.Deliver(t.Context(), unknown); err != nil || outcome != inbox.Rejected {
		t.Fatalf("without a tenant: %v, %v", outcome, err)
	}
	newer := joinHarness(t, d.url, quick, inbox.Handlers{"news": {Apply: recordEffect}})
	unknown.Tenant = "acme" // now that its field is known
	if outcome, err := newer.inbox.Deliver(t.Context(), unknown); err != nil || outcome != inbox.Applied {
		t.Errorf("with a tenant: %v, %v", outcome, err)
	}
	if again := newer.want(t, inbox.Applied, "news", "acme", ""); again != ignored {
		t.Errorf("with a handler it is event %d, was %d", again, ignored)
	}
	if n := d.effects(t, "acme"); n != 2 {
		t.Errorf("%d effects, want 2", n)
	}
}

// One that then waits for its turn has not failed.
func TestRepeat_ARedeliveryThatIsHeldBackIsAccepted(t *testing.T) {
	t.Parallel()
	d := newHarness(t, inbox.Options{}, inbox.Handlers{"boom": {Apply: failing}, "news": {Apply: recordEffect}})
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	d.want(t, inbox.FailedOnce, "boom", "acme", "")
	e := delivery("news", "", "")
	if outcome, err := d.inbox.Deliver(t.Context(), e); err != nil || outcome != inbox.Rejected {
		t.Fatalf("without a tenant: %v, %v", outcome, err)
	}
	e.Tenant = "acme"
	if outcome, err := d.inbox.Deliver(t.Context(), e); err != nil || outcome != inbox.Accepted {
		t.Errorf("behind one that fails: %v, %v", outcome, err)
	}
}

// Two replicas that are flooded with the same events in different orders.
func TestRepeat_AFloodOfTheSameEventsIsStoredOnce(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	replicas := []*harness{d, joinHarness(t, d.url, quick, nil)}
	const events = 100
	var senders sync.WaitGroup
	for i := range 4 * events {
		n := i / 2 // to the one replica upwards, to the other downwards, each event twice
		if i%2 == 1 {
			n = 2*events - 1 - n
		}
		senders.Go(func() {
			if _, err := replicas[i%2].inbox.Deliver(t.Context(), delivery("news", "acme", fmt.Sprint(n/2))); err != nil {
				t.Error(err)
			}
		})
	}
	senders.Wait()
	if n := pgtest.Query[int](t, d.url, `SELECT count(*) FROM public.webhook_events`); n != events {
		t.Errorf("%d events are stored, want %d", n, events)
	}
}

// What was answered 202 was answered, also while it is not done.
func TestRepeat_OfALifecycleEventThatWasAccepted(t *testing.T) {
	t.Parallel()
	running, release := make(chan struct{}, 3), make(chan struct{})
	d := newHarness(t, quick, inbox.Handlers{"subscription.created": {Apply: func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		running <- struct{}{}
		return waitFor(release)(ctx, tx, e)
	}}})
	d.run(t)
	accepted := func(eventType string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if outcome, err := d.inbox.Deliver(ctx, delivery(eventType, "acme", "same")); outcome != inbox.Accepted || err != nil {
			t.Errorf("%s: %v, %v, want accepted", eventType, outcome, err)
		}
	}
	accepted("subscription.created")
	<-running
	accepted("tenant.cancelled")
	accepted("subscription.created")
	close(release)
	await(t, "all are done", func() bool {
		return pgtest.Query[int](t, d.url, `SELECT count(*) FROM public.webhook_events WHERE status = 'done'`) == 3
	})
	d.wantTenant(t, "acme", "active")
	if n := d.effects(t, "acme"); n != 2 { // the first and the last; the cancellation between them is void
		t.Errorf("%d effects, want 2", n)
	}
}
