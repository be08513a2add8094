package inbox_test

import (
	"context"
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

// A handler that ends its transaction has broken the promise of one effect. It
// is not tried again, and a person is told.
func TestHandler_ThatSaysCommitIsFailedAtOnce(t *testing.T) {
	t.Parallel()
	handlers := inbox.Handlers{}
	for _, sql := range []string{`COMMIT`, `ROLLBACK`, `COMMIT; BEGIN`, `ROLLBACK; BEGIN`} {
		handlers[sql] = inbox.Handler{Apply: func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
			if err := recordEffect(ctx, tx, e); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, sql)
			return err
		}}
	}
	d := newHarness(t, quick, handlers)
	d.run(t)
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	for sql := range handlers {
		id := d.want(t, inbox.Rejected, sql, "acme", "")
		if got := d.lastError(t, id); d.attempts(t, id) != 1 || !strings.Contains(got, "COMMIT or ROLLBACK") {
			t.Errorf("%s: %d attempts, %q", sql, d.attempts(t, id), got)
		}
	}
	d.want(t, inbox.Applied, "effect", "acme", "")
	if n := d.effects(t, "acme"); n != 3 { // of the two that committed, and the last
		t.Errorf("%d effects, want 3", n)
	}
}

// A handler that ignores the end of its context does not keep the process.
func TestHandler_ThatIgnoresItsContextDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	running, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	d := newHarness(t, quick, inbox.Handlers{"deaf": {Apply: func(context.Context, pgx.Tx, inbox.Event) error {
		close(running)
		<-release
		return nil
	}}})
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	go func() { _, _ = d.inbox.Deliver(context.Background(), delivery("deaf", "acme", "")) }()
	<-running
	began := time.Now()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	d.inbox.Close(over)
	d.db.Close()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// An attempt that the process's own end cuts short is rolled back, does not
// count, and is taken up at once by another.
func TestHandler_CutShortByTheEndIsTriedByTheNextProcess(t *testing.T) {
	t.Parallel()
	o := quick
	o.Lease = time.Hour
	running := make(chan struct{})
	d := newHarness(t, o, inbox.Handlers{"long": {Apply: func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		close(running)
		<-ctx.Done()
		return ctx.Err()
	}}})
	next := joinHarness(t, d.url, o, inbox.Handlers{"long": {Apply: recordEffect}})
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	go func() { _, _ = d.inbox.Deliver(context.Background(), delivery("long", "acme", "")) }()
	<-running
	over, cancel := context.WithCancel(t.Context())
	cancel()
	d.inbox.Close(over)
	next.run(t)
	await(t, "it has its effect", func() bool { return d.effects(t, "acme") == 1 })
	if n := pgtest.Query[int](t, d.url, `SELECT attempts FROM public.webhook_events WHERE event_type = 'long'`); n != 1 {
		t.Errorf("%d attempts, want 1", n)
	}
}

// A handler without a statement for 10 seconds is taken for a frozen process:
// the tenant goes on, and the event is tried again.
func TestHandler_WithoutAStatementLosesItsTransaction(t *testing.T) {
	t.Parallel()
	var first sync.Once
	d := newHarness(t, quick, inbox.Handlers{"idle": {Apply: func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		err := recordEffect(ctx, tx, e)
		first.Do(func() { time.Sleep(11 * time.Second) }) // what is tested is the time itself
		return err
	}}})
	d.run(t)
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	id := d.want(t, inbox.Accepted, "idle", "acme", "")
	d.awaitStatus(t, id, "done")
	if n := d.effects(t, "acme"); n != 1 || d.attempts(t, id) != 2 {
		t.Errorf("%d effects after %d attempts, want 1 after 2", n, d.attempts(t, id))
	}
}

// A handler of a lifecycle event works on the tenant's own tables.
func TestHandler_OfALifecycleEventRunsOnTheTenantsSchema(t *testing.T) {
	t.Parallel()
	d := newHarness(t, quick, inbox.Handlers{
		"subscription.created": {Apply: recordEffect}, "tenant.cancelled": {Apply: recordEffect},
		"subscription.paused": {Apply: recordEffect, Lifecycle: true},
	})
	for _, eventType := range []string{"subscription.created", "subscription.paused", "tenant.cancelled", "subscription.created"} {
		d.want(t, inbox.Applied, eventType, "acme", eventType)
	}
	if n := d.effects(t, "acme"); n != 4 { // the last is a new event, for the tenant was cancelled
		t.Errorf("%d effects, want 4", n)
	}
}

// An event may come for a tenant that a deployment has not migrated yet. It is
// migrated then, where that may be done on use.
func TestHandler_FindsItsTenantAtThisVersion(t *testing.T) {
	t.Parallel()
	two := files("000001_effects.up.sql", "CREATE TABLE effects (event bigint NOT NULL)", "000002_b.up.sql", "ALTER TABLE effects ADD COLUMN b text")
	for want, c := range map[int]struct {
		may     bool
		outcome inbox.Outcome
	}{1: {false, inbox.FailedOnce}, 2: {true, inbox.Applied}} {
		url := pgtest.URL(t)
		before := joinHarness(t, url, quick, nil)
		before.want(t, inbox.Applied, "subscription.created", "acme", "")
		d := openHarness(t, tenancy.Options{URL: url, Tenant: two, MigrateOnUse: c.may}, inbox.Options{}, inbox.Handlers{
			"b": {Apply: func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
				_, err := tx.Exec(ctx, `INSERT INTO effects (event, b) VALUES ($1, 'x')`, e.ID)
				return err
			}}})
		d.want(t, c.outcome, "b", "acme", "")
		if got := pgtest.Query[int](t, url, `SELECT schema_version FROM public.tenants`); got != want {
			t.Errorf("MigrateOnUse %v: at version %d, want %d", c.may, got, want)
		}
	}
}

// A tenant whose schema is lost has no tables. Its handler's plain names must
// not find the product's shared ones instead.
func TestHandler_OfATenantWithoutItsSchemaIsNotCalled(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	d := newHarness(t, inbox.Options{}, inbox.Handlers{"sale": {Apply: func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		calls.Add(1)
		return recordEffect(ctx, tx, e)
	}}})
	d.want(t, inbox.Applied, "subscription.created", "acme", "")
	pgtest.Exec(t, d.url, `DROP SCHEMA tenant_acme CASCADE; CREATE TABLE public.effects (event bigint NOT NULL)`)
	id := d.want(t, inbox.FailedOnce, "sale", "acme", "")
	if got := d.lastError(t, id); !strings.Contains(got, tenancy.ErrSchemaMissing.Error()) || d.status(t, id) != "pending" {
		t.Errorf("%s, %q; want it pending, and the schema named", d.status(t, id), got)
	}
	if n := pgtest.Query[int](t, d.url, `SELECT count(*) FROM public.effects`); n != 0 || calls.Load() != 0 {
		t.Errorf("%d calls, %d rows in public.effects; want none", calls.Load(), n)
	}
}
