package jobs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/jobs"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A job is there if and only if its transaction commits, and runs on the data of
// the tenant that inserted it, and on no other's.
func TestInsert_ExistsIfAndOnlyIfTheTransactionCommits(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme, globex := o.tenant(t, "acme"), o.tenant(t, "globex")
	failed := errors.New("fails")
	err := o.db.InTx(acme, func(tx pgx.Tx) error {
		must(t, jobs.Insert(acme, tx, note{"never"}))
		return failed
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	o.insert(t, acme, note{"of acme"})
	o.insert(t, globex, note{"of globex"})
	o.runDue(t, jobs.Handle(o.write))
	for _, name := range []string{"acme", "globex"} {
		if got := pgtest.Query[string](t, o.url, `SELECT string_agg(text, ',') FROM tenant_`+name+`.notes`); got != "of "+name {
			t.Errorf("%s has %q", name, got)
		}
	}
	if n := pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_job WHERE state <> 'completed'`); n != 0 {
		t.Errorf("%d jobs are not done", n)
	}
}

// What a job of a tenant needs is a tenant who may be served.
func TestInsert_WithoutATenantIsRefused(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	err := o.db.InShared(t.Context(), func(tx pgx.Tx) error { return jobs.Insert(t.Context(), tx, note{}) })
	if !errors.Is(err, tenancy.ErrNoTenant) {
		t.Errorf("%v, want ErrNoTenant", err)
	}
}

// Shared jobs and jobs of a tenant are told apart, also where a kind was
// inserted by the wrong call.
func TestInsertShared_HasNoTenant(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme := o.tenant(t, "acme")
	var tenants int
	shared := jobs.Shared(func(ctx context.Context, _ sweep) error {
		if _, err := tenancy.TenantFrom(ctx); !errors.Is(err, tenancy.ErrNoTenant) {
			t.Errorf("a tenant in a shared job: %v", err)
		}
		return o.db.EachTenant(ctx, func(ctx context.Context) error {
			tenants++
			return o.write(ctx, note{"swept"})
		})
	})
	o.insertShared(t, sweep{})
	o.runDue(t, shared)
	if tenants != 1 {
		t.Errorf("%d tenants, want 1", tenants)
	}
	o.insert(t, acme, sweep{})
	o.insertShared(t, note{"lost"})
	o.runDue(t, shared, jobs.Handle(o.write))
	failed, err := jobs.List(t.Context(), o.db, tenancy.Slug{}, jobs.Failed, 10)
	if err != nil || len(failed) != 2 || tenants != 1 {
		t.Errorf("%d jobs that were inserted by the wrong call failed, want 2: %+v, %v", len(failed), failed, err)
	}
}

// A job in the future waits for its time.
func TestInsert_AtALaterTime(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme := o.tenant(t, "acme")
	o.insert(t, acme, note{"past"}, jobs.At(time.Now().Add(-time.Hour)))
	o.insert(t, acme, note{"hour"}, jobs.In(time.Hour))
	o.insert(t, acme, note{"soon"}, jobs.In(3*time.Second))
	seen := func() int { return pgtest.Query[int](t, o.url, `SELECT count(*) FROM tenant_acme.notes`) }
	o.runDue(t, jobs.Handle(o.write))
	if n := seen(); n != 1 {
		t.Errorf("%d jobs ran, want the one that is due", n)
	}
	o.soon(t)
	o.runDue(t, jobs.Handle(o.write))
	if n := seen(); n != 3 {
		t.Errorf("%d jobs ran, want all three", n)
	}
}

// Once is once for a tenant and arguments, while the job is not finished.
func TestInsert_Once(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme, globex := o.tenant(t, "acme"), o.tenant(t, "globex")
	for range 2 {
		o.insert(t, acme, note{"a"}, jobs.Once())
		o.insert(t, acme, note{"b"}, jobs.Once())
		o.insert(t, globex, note{"a"}, jobs.Once())
	}
	count := func() int { return pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_job`) }
	if n := count(); n != 3 {
		t.Errorf("%d jobs, want 3", n)
	}
	during := 0
	o.runDue(t, jobs.Handle(func(ctx context.Context, n note) error {
		o.insert(t, ctx, n, jobs.Once()) // it is running
		during++
		return nil
	}))
	if n := count(); n != 3 || during != 3 {
		t.Errorf("%d jobs after %d ran, want 3", n, during)
	}
	o.insert(t, acme, note{"a"}, jobs.Once())
	if n := count(); n != 4 {
		t.Errorf("%d jobs, want 4: the first one is done", n)
	}
}

// A second insertion of the same job does not wait for the transaction of one
// that is there already.
func TestInsert_OnceWaitsForNobody(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme := o.tenant(t, "acme")
	o.insert(t, acme, note{"a"}, jobs.Once())
	must(t, o.db.InTx(acme, func(tx pgx.Tx) error {
		must(t, jobs.Insert(acme, tx, note{"a"}, jobs.Once()))
		ctx, cancel := context.WithTimeout(acme, 5*time.Second)
		defer cancel()
		return o.db.InTx(ctx, func(tx pgx.Tx) error { return jobs.Insert(ctx, tx, note{"a"}, jobs.Once()) })
	}))
}

// Everything goes through a pooler in transaction mode too.
func TestInsert_ThroughAPooler(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	o := openHarness(t, pgtest.Pooler(t, url))
	acme := o.tenant(t, "acme")
	o.insert(t, acme, note{"quoted ' \" \\ ü"}, jobs.Once())
	o.insert(t, acme, note{"later"}, jobs.In(time.Hour))
	o.start(t, jobs.Options{}, jobs.Handle(o.write), jobs.Shared(func(context.Context, sweep) error { return nil }),
		jobs.Every(time.Hour, sweep{}), jobs.EveryTenant(time.Hour, note{"scheduled"}))
	await(t, "the job is done", func() bool {
		return pgtest.Query[int](t, url, `SELECT count(*) FROM tenant_acme.notes WHERE text = 'quoted '' " \ ü'`) == 1
	})
	await(t, "the schedules are kept", func() bool { return pgtest.Query[int](t, url, `SELECT count(*) FROM public.job_schedules`) == 2 })
	must(t, o.db.Cancel(t.Context(), slugOf(t, "acme")))
	await(t, "the job is marked as done", func() bool {
		list, err := jobs.List(t.Context(), o.db, tenancy.Slug{}, jobs.Done, 10)
		return err == nil && len(list) == 1
	})
	if list, err := jobs.List(t.Context(), o.db, tenancy.Slug{}, jobs.Cancelled, 10); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v; want one cancelled", list, err)
	}
}
