package inbox_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// What an operator has tried again, after a lifecycle event that came later,
// must not undo that.
func TestRetry_ASupersededEventStaysVoid(t *testing.T) {
	t.Parallel()
	var refusing atomic.Bool
	refusing.Store(true)
	refuse := func(context.Context, pgx.Tx, inbox.Event) error {
		if refusing.Load() {
			return inbox.Permanent(errBoom)
		}
		return nil
	}
	d := newHarness(t, quick, nil)
	d = joinHarness(t, d.url, quick, inbox.Handlers{"tenant.cancelled": {Apply: refuse}})
	d.run(t)
	d.want(t, inbox.Applied, "subscription.created", "acme", "1")
	cancellation := d.want(t, inbox.Rejected, "tenant.cancelled", "acme", "")
	d.want(t, inbox.Applied, "subscription.created", "acme", "2")
	refusing.Store(false)
	if n, err := inbox.RetryFailed(t.Context(), d.db); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	d.awaitStatus(t, cancellation, "done")
	d.wantTenant(t, "acme", "active")
}

func TestRetry_IgnoredEventsOfATypeThatHasAHandlerNow(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	for _, salt := range []string{"1", "2", "3"} {
		d.want(t, inbox.Unhandled, "news", "acme", salt)
	}
	d.want(t, inbox.Unhandled, "gossip", "acme", "")
	newer := joinHarness(t, d.url, quick, inbox.Handlers{"news": {Apply: recordEffect}})
	if n, err := inbox.RetryIgnored(t.Context(), newer.db, "news", false); err != nil || n != 3 {
		t.Fatalf("%d, %v", n, err)
	}
	newer.run(t)
	await(t, "they have their effects", func() bool { return d.effects(t, "acme") == 3 })
}

func TestRetry_TellsWhatCannotBeTried(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	done := d.want(t, inbox.Applied, "subscription.created", "acme", "")
	nameless := d.want(t, inbox.Rejected, "effect", "", "")
	for id, want := range map[int64]error{done: inbox.ErrNotRetryable, nameless: inbox.ErrNotRetryable, 4711: inbox.ErrUnknownEvent} {
		if err := inbox.Retry(t.Context(), d.db, id); !errors.Is(err, want) {
			t.Errorf("event %d: %v, want %v", id, err, want)
		}
	}
}

func TestSweep_DeletesFinishedEventsAfterTheirRetention(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	d.want(t, inbox.Unhandled, "tenant.exploded", "acme", "")
	d.want(t, inbox.Rejected, "subscription.created", "", "") // a person has to see it
	pgtest.Exec(t, d.url, `UPDATE public.webhook_events SET processed_at = now() - interval '91 days'`)
	if err := d.inbox.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := pgtest.Query[string](t, d.url, `SELECT string_agg(status, ',') FROM public.webhook_events`); got != "failed" {
		t.Errorf("left are %s, want the failed one alone", got)
	}
}
