package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
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

// The log says of a retry what the audit log has of it: a line for each tenant.
func TestRetry_TheLogNamesTheTenant(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	d.want(t, inbox.Unhandled, "news", "acme", "1")
	d.want(t, inbox.Unhandled, "news", "acme", "2")
	other := d.want(t, inbox.Unhandled, "news", "globex", "")
	var log strings.Builder
	db, err := tenancy.Open(t.Context(), tenancy.Options{URL: d.url, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := inbox.Retry(t.Context(), db, other); err != nil {
		t.Fatal(err)
	}
	if n, err := inbox.RetryIgnored(t.Context(), db, "news", false); err != nil || n != 2 {
		t.Fatalf("%d, %v", n, err)
	}
	for _, want := range []string{fmt.Sprintf(`action=retry tenant=globex detail="event %d: 1"`, other), `action=retry tenant=acme detail="ignored events news: 2"`} {
		if strings.Count(log.String(), want) != 1 || strings.Count(log.String(), "action=retry") != 2 {
			t.Errorf("no %s in\n%s", want, log.String())
		}
	}
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
