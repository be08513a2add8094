package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/jobs"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

func sweeps(context.Context, sweep) error { return nil }

// Each tenant gets exactly one job an interval, however many replicas look at the
// schedule at once, and a cancelled one none.
func TestSchedule_EachTenantOnceAnInterval(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	const replicas = 3
	pgtest.Exec(t, o.url, `INSERT INTO public.tenants (slug, schema_version) SELECT 't' || n, 1 FROM generate_series(1, 10000) n`)
	pgtest.Exec(t, o.url, `INSERT INTO public.tenants (slug, status, schema_version) VALUES ('gone', 'cancelled', 1)`)
	pgtest.Exec(t, o.url, `INSERT INTO public.job_schedules (kind, done_until) VALUES ('note', date_trunc('second', now()) - interval '50 seconds')`)
	var engines []*jobs.Engine
	for range replicas {
		engines = append(engines, openHarness(t, o.url).engine(t, jobs.Options{}, jobs.Handle(o.write), jobs.EveryTenant(time.Minute, note{"x"})))
	}
	const doneUntil = `SELECT floor(extract(epoch FROM done_until))::bigint FROM public.job_schedules`
	begun := pgtest.Query[int64](t, o.url, doneUntil)
	for pgtest.Query[bool](t, o.url, `SELECT done_until < now() - interval '3 seconds' FROM public.job_schedules`) {
		errs := make(chan error, replicas)
		for _, e := range engines {
			go func() { errs <- e.InsertDue(context.Background()) }()
		}
		for range engines {
			must(t, <-errs)
		}
		pgtest.Exec(t, o.url, `UPDATE public.river_job SET state = 'completed', finalized_at = now() WHERE finalized_at IS NULL`) // makes room for a second one
	}
	wrong := pgtest.Query[int](t, o.url, `
		WITH has AS (SELECT metadata->>'tenant' AS slug, count(*) AS n FROM public.river_job GROUP BY 1),
		due AS (SELECT t.slug, count(second) AS n FROM public.tenants t
			LEFT JOIN generate_series($1::bigint + 1, $2::bigint) second ON second % 60 = abs(hashtext(t.slug)::bigint) % 60 AND t.status = 'active'
			GROUP BY t.slug)
		SELECT count(*) FROM due LEFT JOIN has USING (slug) WHERE due.n <> coalesce(has.n, 0)`,
		begun, pgtest.Query[int64](t, o.url, doneUntil))
	if n := pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_job`); wrong != 0 || n < 7000 {
		t.Errorf("%d tenants have not just the jobs that were due; %d jobs in all", wrong, n)
	}
}

// What was missed while no replica ran is made up for, not all at once, and not
// for longer than an interval back.
func TestSchedule_CatchesUp(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	pgtest.Exec(t, o.url, `INSERT INTO public.tenants (slug, schema_version) SELECT 't' || n, 1 FROM generate_series(1, 720) n`)
	pgtest.Exec(t, o.url, `INSERT INTO public.job_schedules (kind, done_until) VALUES ('note', now() - interval '1 day')`)
	e := o.engine(t, jobs.Options{}, jobs.Handle(o.write), jobs.EveryTenant(time.Hour, note{"x"}))
	count := func() int { return pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_job`) }
	must(t, e.InsertDue(t.Context()))
	if n := count(); n < 5 || n > 60 {
		t.Errorf("%d jobs were inserted together, want some 20", n)
	}
	for range 37 {
		must(t, e.InsertDue(t.Context()))
	}
	if n := count(); n < 715 || n > 720 {
		t.Errorf("%d jobs, want one for each of 720 tenants", n)
	}
	if !pgtest.Query[bool](t, o.url, `SELECT done_until > now() - interval '2 minutes' FROM public.job_schedules`) {
		t.Error("it is still behind")
	}
}

// A tick of 5 seconds inserts some 14 of 10,000 that are due each hour.
func TestSchedule_IsSpreadOverTheInterval(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	pgtest.Exec(t, o.url, `INSERT INTO public.tenants (slug, schema_version) SELECT 't' || n, 1 FROM generate_series(1, 10000) n`)
	e := o.engine(t, jobs.Options{}, jobs.Handle(o.write), jobs.EveryTenant(time.Hour, note{"hourly"}))
	must(t, e.InsertDue(t.Context()))
	for range 5 {
		pgtest.Exec(t, o.url, `DELETE FROM public.river_job; UPDATE public.job_schedules SET done_until = now() - interval '5 seconds'`)
		must(t, e.InsertDue(t.Context()))
		if n := pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_job`); n < 2 || n > 40 {
			t.Errorf("%d jobs in 5 seconds, want about 14", n)
		}
	}
}

// A shared schedule has one job at each multiple of its interval.
func TestSchedule_Every(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	e := o.engine(t, jobs.Options{}, jobs.Shared(sweeps), jobs.Every(24*time.Hour, sweep{}))
	must(t, e.InsertDue(t.Context()))
	for _, c := range []struct {
		doneUntil string
		want      int
	}{
		{`date_trunc('day', now(), 'UTC') + interval '1 second'`, 0},
		{`date_trunc('day', now(), 'UTC') - interval '1 second'`, 1},
		{`now() - interval '1 year'`, 1},
	} {
		pgtest.Exec(t, o.url, `DELETE FROM public.river_job; UPDATE public.job_schedules SET done_until = `+c.doneUntil)
		for range 40 { // some 3 minutes of ticks
			must(t, e.InsertDue(t.Context()))
		}
		if n := pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_job WHERE metadata = '{}'`); n != c.want {
			t.Errorf("since %s: %d jobs, want %d", c.doneUntil, n, c.want)
		}
	}
}

// A clock that was ahead and is right again leaves a schedule that is done until
// a time to come: it begins again, and says so. Within its interval it waits.
func TestSchedule_AClockThatWasAhead(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	log := make(lines, 10)
	e := o.engine(t, jobs.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}, jobs.Shared(sweeps), jobs.Every(time.Hour, sweep{}))
	for doneUntil, begins := range map[string]bool{`now() + interval '1 year'`: true, `now() + interval '50 minutes'`: false} {
		pgtest.Exec(t, o.url, `DELETE FROM public.job_schedules; INSERT INTO public.job_schedules (kind, done_until) VALUES ('sweep', `+doneUntil+`)`)
		must(t, e.InsertDue(t.Context()))
		if got := pgtest.Query[bool](t, o.url, `SELECT done_until <= now() FROM public.job_schedules`); got != begins {
			t.Errorf("done until %s: begins again: %v, want %v", doneUntil, got, begins)
		}
	}
	if n := pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_job`); n != 0 || len(log) != 1 || !strings.Contains(<-log, "kind=sweep") {
		t.Errorf("%d jobs, %d more lines in the log; want none, and one warning that names it", n, len(log))
	}
	pgtest.Exec(t, o.url, `UPDATE public.job_schedules SET done_until = now() - interval '1 hour'`) // an hour goes by
	for range 37 {
		must(t, e.InsertDue(t.Context()))
	}
	if n := pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_job`); n != 1 {
		t.Errorf("%d jobs in the hour after, want one", n)
	}
}

// A job that is not finished when its time has come again does not pile up.
func TestSchedule_DoesNotPileUp(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.tenant(t, "acme")
	e := o.engine(t, jobs.Options{}, jobs.Handle(o.write), jobs.EveryTenant(time.Minute, note{"x"}))
	for range 3 {
		must(t, e.InsertDue(t.Context()))
		pgtest.Exec(t, o.url, `UPDATE public.job_schedules SET done_until = now() - interval '1 minute'`)
		for range 7 {
			must(t, e.InsertDue(t.Context()))
		}
	}
	if n := pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_job`); n != 1 {
		t.Errorf("%d jobs, want one", n)
	}
}

// A running server keeps its schedules.
func TestSchedule_IsKeptByARunningEngine(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.tenant(t, "acme")
	pgtest.Exec(t, o.url, `INSERT INTO public.job_schedules (kind, done_until) VALUES ('note', now() - interval '1 hour')`)
	o.start(t, jobs.Options{}, jobs.Handle(o.write), jobs.EveryTenant(5*time.Second, note{"x"}))
	await(t, "the job ran", func() bool { return pgtest.Query[int](t, o.url, `SELECT count(*) FROM tenant_acme.notes`) == 1 })
}

// A schedule's jobs can be had now: of one tenant, or of all.
func TestJobs_RunNow(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	for _, name := range []string{"acme", "globex", "gone"} {
		o.tenant(t, name)
	}
	must(t, o.db.Cancel(t.Context(), slugOf(t, "gone")))
	declared := []jobs.Declared{jobs.Handle(o.write), jobs.Shared(sweeps), jobs.EveryTenant(time.Hour, note{"now"}), jobs.Every(time.Hour, sweep{})}
	for i, c := range []struct {
		kind string
		only tenancy.Slug
		want int64
	}{{"note", slugOf(t, "acme"), 1}, {"note", tenancy.Slug{}, 1}, {"note", slugOf(t, "gone"), 0}, {"sweep", tenancy.Slug{}, 1}} {
		if n, err := jobs.RunNow(t.Context(), o.db, declared, c.kind, c.only); n != c.want || err != nil {
			t.Errorf("%d: %d jobs, %v; want %d", i, n, err, c.want)
		}
	}
	o.runDue(t, declared...)
	if n := o.statuses(t, "acme")[jobs.Done] + o.statuses(t, "globex")[jobs.Done]; n != 2 {
		t.Errorf("%d are done, want 2", n)
	}
	if _, err := jobs.RunNow(t.Context(), o.db, declared[:2], "note", tenancy.Slug{}); !errors.Is(err, jobs.ErrNoSchedule) {
		t.Errorf("%v, want ErrNoSchedule", err)
	}
}
