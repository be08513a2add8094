package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/jobs"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// statuses counts the tenant's jobs by status.
func (o *harness) statuses(t testing.TB, tenant string) map[string]int {
	t.Helper()
	list, err := jobs.List(t.Context(), o.db, tenancy.Slug{}, "", 100)
	must(t, err)
	counts := map[string]int{}
	for _, job := range list {
		if job.TenantSlug != nil && *job.TenantSlug == tenant {
			counts[job.Status]++
		}
	}
	return counts
}

// Cancelling a tenant cancels its waiting jobs in the same transaction, and a
// running one fails at its next data call, for good; a restored tenant has none
// of them back. Other tenants notice nothing.
func TestCancel_EndsTheTenantsJobs(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme, globex := o.tenant(t, "acme"), o.tenant(t, "globex")
	running, cancelled := make(chan struct{}), make(chan struct{})
	o.start(t, jobs.Options{}, jobs.Handle(func(ctx context.Context, n note) error {
		if n.Text == "running" {
			close(running)
			<-cancelled
		}
		return o.write(ctx, n)
	}))
	o.insert(t, acme, note{"running"})
	<-running
	o.insert(t, acme, note{"due"}, jobs.In(4*time.Second))
	o.insert(t, acme, note{"later"}, jobs.In(time.Hour))
	o.insert(t, globex, note{"later"}, jobs.In(time.Hour))
	pgtest.Exec(t, o.url, `UPDATE public.river_job SET state = 'retryable' WHERE args->>'Text' = 'later' AND id % 2 = 1`)
	must(t, o.db.Cancel(t.Context(), slugOf(t, "acme")))
	if got := o.statuses(t, "acme"); got[jobs.Cancelled] != 2 || got[jobs.Running] != 1 {
		t.Errorf("with the commit: %v; want 2 cancelled and the one that runs", got)
	}
	must(t, o.db.Restore(t.Context(), slugOf(t, "acme"))) // too soon for the one that runs to notice
	must(t, o.db.Cancel(t.Context(), slugOf(t, "acme")))
	close(cancelled)
	await(t, "the running one is over", func() bool { return o.statuses(t, "acme")[jobs.Cancelled] == 3 })
	must(t, o.db.Restore(t.Context(), slugOf(t, "acme")))
	o.soon(t)
	await(t, "the other tenant's ran", func() bool { return o.statuses(t, "globex")[jobs.Done] == 1 })
	if got := o.statuses(t, "acme"); got[jobs.Cancelled] != 3 {
		t.Errorf("after the restore: %v; want 3 cancelled", got)
	}
	if n := pgtest.Query[int](t, o.url, `SELECT count(*) FROM tenant_acme.notes`); n != 0 {
		t.Errorf("%d notes were written", n)
	}
}

// A running job whose tenant was cancelled is not tried again, whatever its error
// and however soon the tenant is back.
func TestCancel_ARunningJobIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.insert(t, o.tenant(t, "acme"), note{"x"})
	runs := 0
	handler := jobs.Handle(func(ctx context.Context, _ note) error {
		runs++
		must(t, o.db.Cancel(ctx, slugOf(t, "acme")))
		must(t, o.db.Restore(ctx, slugOf(t, "acme")))
		return context.DeadlineExceeded
	})
	o.runDue(t, handler)
	o.soon(t)
	o.runDue(t, handler)
	if job := o.only(t); job.Status != jobs.Cancelled || runs != 1 {
		t.Errorf("%s after %d runs, want it cancelled after one", job.Status, runs)
	}
}

// A job that is claimed when its tenant is cancelled already does not run.
func TestCancel_AJobThatCameTooLateDoesNotRun(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme := o.tenant(t, "acme")
	must(t, o.db.InTx(acme, func(tx pgx.Tx) error {
		if _, err := tx.Exec(acme, `SELECT 1`); err != nil { // with which it begins
			return err
		}
		must(t, o.db.Cancel(t.Context(), slugOf(t, "acme")))
		return jobs.Insert(acme, tx, note{"late"})
	}))
	o.runDue(t, jobs.Handle(func(context.Context, note) error { t.Error("it ran"); return nil }))
	if job := o.only(t); job.Status != jobs.Cancelled {
		t.Errorf("%+v; want it cancelled", job)
	}
}

// The platform's event does what the command does.
func TestCancel_ByAnEventEndsJobsToo(t *testing.T) {
	t.Parallel()
	for name, handlers := range map[string]inbox.Handlers{
		"the template's": nil,
		"the product's":  {"tenant.cancelled": {Apply: func(context.Context, pgx.Tx, inbox.Event) error { return nil }}},
	} {
		o := newHarness(t)
		o.insert(t, o.tenant(t, "acme"), note{"x"})
		in, err := inbox.New(o.db, handlers, inbox.Options{Logger: slog.New(slog.DiscardHandler)})
		must(t, err)
		outcome, err := in.Deliver(t.Context(), inbox.Delivery{Type: "tenant.cancelled", Tenant: "acme", Body: []byte(`{}`), SignedWith: "current"})
		in.Close(t.Context())
		if err != nil || outcome != inbox.Applied {
			t.Fatalf("%s: %v, %v", name, outcome, err)
		}
		if job := o.only(t); job.Status != jobs.Cancelled {
			t.Errorf("%s: %+v; want it cancelled", name, job)
		}
	}
}

// welcoming is a database where a job is inserted for each tenant that is made.
func welcoming(t *testing.T) (url string, db *tenancy.DB) {
	t.Helper()
	url = newHarness(t).url
	db, err := tenancy.Open(t.Context(), tenancy.Options{URL: url, Tenant: notes, OnProvision: func(ctx context.Context, tx pgx.Tx, _ tenancy.Slug) error {
		return jobs.Insert(ctx, tx, note{"welcome"})
	}})
	must(t, err)
	t.Cleanup(db.Close)
	return url, db
}

// An event's handler, and what runs when a tenant is made, insert jobs of that
// tenant in their own transaction.
func TestInsert_InAnEventAndAtProvisioning(t *testing.T) {
	t.Parallel()
	url, db := welcoming(t)
	in, err := inbox.New(db, inbox.Handlers{"paid": {Apply: func(ctx context.Context, tx pgx.Tx, _ inbox.Event) error {
		return jobs.Insert(ctx, tx, note{"paid"})
	}}}, inbox.Options{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	defer in.Close(t.Context())
	for _, event := range []string{"subscription.created", "paid"} {
		outcome, err := in.Deliver(t.Context(), inbox.Delivery{Type: event, Tenant: "acme", Body: []byte(event), SignedWith: "current"})
		if err != nil || outcome != inbox.Applied {
			t.Fatalf("%s: %v, %v", event, outcome, err)
		}
	}
	o := &harness{url, db}
	o.runDue(t, jobs.Handle(o.write))
	if got := pgtest.Query[string](t, url, `SELECT string_agg(text, ',' ORDER BY text) FROM tenant_acme.notes`); got != "paid,welcome" {
		t.Errorf("%q ran", got)
	}
}

// Who provisions without an event, at a sign-in or by a command, makes the same
// job of the same tenant.
func TestInsert_AtProvisioningWithoutAnEvent(t *testing.T) {
	t.Parallel()
	url, db := welcoming(t)
	must(t, db.Provision(t.Context(), slugOf(t, "acme")))
	must(t, db.EnsureReady(t.Context(), slugOf(t, "globex")))
	must(t, db.Provision(t.Context(), slugOf(t, "acme"))) // it is there: nothing is made
	got := pgtest.Query[string](t, url, `SELECT string_agg(concat_ws(' ', kind, args->>'Text', metadata->>'tenant'), ', ' ORDER BY id) FROM public.river_job`)
	if got != "note welcome acme, note welcome globex" {
		t.Errorf("the jobs are %s", got)
	}
}

// A purge takes the tenant's jobs with it, whatever their status, and no other's.
func TestPurge_DeletesTheTenantsJobs(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme, globex := o.tenant(t, "acme"), o.tenant(t, "globex")
	o.insert(t, acme, note{"done"})
	o.runDue(t, jobs.Handle(o.write))
	o.insert(t, acme, note{"waits"})
	o.insert(t, globex, note{"waits"})
	o.insertShared(t, sweep{})
	must(t, o.db.Cancel(t.Context(), slugOf(t, "acme")))
	must(t, o.db.Purge(t.Context(), slugOf(t, "acme")))
	if n := pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_job`); n != 2 || len(o.statuses(t, "acme")) != 0 {
		t.Errorf("%d jobs are left, want the other tenant's and the shared one", n)
	}
}

// A job that runs while its tenant is purged has no row to end in; others go on.
func TestPurge_OfAJobThatRuns(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme, globex := o.tenant(t, "acme"), o.tenant(t, "globex")
	running, purged := make(chan struct{}), make(chan struct{})
	o.start(t, jobs.Options{Slots: 1}, jobs.Handle(func(ctx context.Context, n note) error {
		if n.Text == "running" {
			close(running)
			<-purged
		}
		return o.write(ctx, n)
	}))
	o.insert(t, acme, note{"running"})
	<-running
	o.insert(t, globex, note{"next"})
	must(t, o.db.Cancel(t.Context(), slugOf(t, "acme")))
	must(t, o.db.Purge(t.Context(), slugOf(t, "acme")))
	close(purged)
	await(t, "the next job is done", func() bool { return o.statuses(t, "globex")[jobs.Done] == 1 })
	if counts := o.statuses(t, "acme"); len(counts) != 0 {
		t.Errorf("%v are left", counts)
	}
}

// again ends the tenant, drops all its data and gives its slug to another.
func (o *harness) again(t testing.TB, name string) {
	t.Helper()
	slug := slugOf(t, name)
	must(t, o.db.Cancel(t.Context(), slug))
	must(t, o.db.Purge(t.Context(), slug))
	must(t, o.db.Provision(t.Context(), slug))
}

// A job may have been inserted in a transaction that ended when its tenant was
// purged already, and may still be running then: it is not the job of whoever has
// the slug now.
func TestPurge_AJobOfAFormerTenantDoesNotRunOnTheNext(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme := o.tenant(t, "acme")
	must(t, o.db.InTx(acme, func(tx pgx.Tx) error {
		must(t, jobs.Insert(acme, tx, note{"inserted"}))
		o.again(t, "acme")
		must(t, jobs.Insert(acme, tx, note{"inserted too"}))
		return nil
	}))
	o.runDue(t, jobs.Handle(o.write))
	if got := o.statuses(t, "acme"); got[jobs.Cancelled] != 2 {
		t.Errorf("%v, want both cancelled", got)
	}
	o.again(t, "acme")
	o.insert(t, o.tenant(t, "acme"), note{"running"})
	var refused error
	o.runDue(t, jobs.Handle(func(ctx context.Context, n note) error {
		o.again(t, "acme")
		refused = o.write(ctx, n)
		return refused
	}))
	if !errors.Is(refused, tenancy.ErrTenantCancelled) {
		t.Errorf("the running one: %v, want ErrTenantCancelled", refused)
	}
	if n := pgtest.Query[int](t, o.url, `SELECT count(*) FROM tenant_acme.notes`); n != 0 {
		t.Errorf("the next tenant has %d notes", n)
	}
}
