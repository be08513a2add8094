package inbox_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A company that subscribes again while its old data is purged is the next tenant
// of its slug: the purge leaves that event.
func TestPurge_ASubscriptionThatComesMeanwhileIsApplied(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	old := d.want(t, inbox.Applied, "subscription.created", "acme", "")
	d.want(t, inbox.Applied, "tenant.cancelled", "acme", "")
	reader := pgtest.Connect(t, d.url)
	defer reader.Close(context.Background())
	if _, err := reader.Exec(t.Context(), `BEGIN; SELECT FROM tenant_acme.effects`); err != nil {
		t.Fatal(err)
	}
	if err := d.db.Purge(t.Context(), slugOf(t, "acme")); !errors.Is(err, tenancy.ErrBusy) {
		t.Fatalf("%v, want the purge to be held up", err)
	}
	again := d.want(t, inbox.FailedOnce, "subscription.created", "acme", "again")
	if _, err := reader.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	if err := d.db.Purge(t.Context(), slugOf(t, "acme")); err != nil {
		t.Fatal(err)
	}
	if n := pgtest.Query[int](t, d.url, `SELECT count(*) FROM public.webhook_events WHERE id = $1`, old); n != 0 {
		t.Error("the old tenant's event is still there")
	}
	d.run(t)
	d.awaitStatus(t, again, "done")
	d.wantTenant(t, "acme", "active")
}

// An event that is gone before it was applied is not acknowledged: the platform
// sends it again.
func TestPurge_AnEventThatIsGoneIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, nil)
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	holder := pgtest.Connect(t, d.url)
	defer holder.Close(context.Background())
	if _, err := holder.Exec(t.Context(), `SELECT pg_advisory_lock($1::int, hashtext('acme'))`, tenancy.LockKey); err != nil {
		t.Fatal(err)
	}
	delivered := make(chan error, 1)
	go func() {
		outcome, err := d.inbox.Deliver(t.Context(), delivery("effect", "acme", ""))
		if err == nil {
			t.Errorf("outcome %d", outcome)
		}
		delivered <- err
	}()
	await(t, "it is stored", func() bool {
		return pgtest.Query[bool](t, d.url, `SELECT EXISTS (SELECT FROM public.webhook_events WHERE event_type = 'effect')`)
	})
	pgtest.Exec(t, d.url, `DELETE FROM public.webhook_events WHERE event_type = 'effect'`)
	if err := <-delivered; !errors.Is(err, pgx.ErrNoRows) {
		t.Errorf("%v, want to be told that it is gone", err)
	}
}
