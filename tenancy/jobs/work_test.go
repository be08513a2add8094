package jobs_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/subproduct/tenancy/jobs"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A job that fails is tried again later, and failed for good when it says that
// it never can succeed; each attempt's error can be read.
func TestWork_FailsIsRetriedAndFailsForGood(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.insert(t, o.tenant(t, "acme"), note{"x"})
	attempts := 0
	handler := jobs.Handle(func(context.Context, note) error {
		switch attempts++; attempts {
		case 1:
			return errors.New("this time")
		case 2:
			panic("on purpose")
		case 3:
			return errors.New("not \x00 storable \xff")
		}
		return jobs.Permanent(errors.New("never"))
	})
	for attempt := 1; attempt <= 3; attempt++ {
		o.runDue(t, handler)
		if job := o.only(t); job.Status != jobs.Pending || job.Attempts != attempt || !job.DueAt.After(time.Now()) {
			t.Fatalf("after attempt %d: %+v; want it pending, and due later", attempt, job)
		}
		o.soon(t)
	}
	o.runDue(t, handler)
	job := o.only(t)
	if job.Status != jobs.Failed || job.Attempts != 4 || len(job.Errors) != 4 {
		t.Fatalf("%+v; want it failed after 4 attempts", job)
	}
	for i, want := range []string{"this time", "panic: on purpose", "not \uFFFD storable \uFFFD", "never"} {
		if !strings.HasPrefix(job.Errors[i].Error, want) {
			t.Errorf("attempt %d: %q, want %q", i+1, job.Errors[i].Error, want)
		}
	}
}

// A handler that ends its goroutine fails, as one that panics, and leaves the only
// slot to the next job.
func TestWork_AHandlerThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme := o.tenant(t, "acme")
	o.insert(t, acme, note{"exits"})
	o.insert(t, acme, note{"x"})
	o.start(t, jobs.Options{Slots: 1, Shutdown: time.Second}, jobs.Handle(func(ctx context.Context, n note) error {
		if n.Text == "exits" {
			runtime.Goexit()
		}
		return o.write(ctx, n)
	}))
	await(t, "the next job has run", func() bool { return pgtest.Query[int](t, o.url, `SELECT count(*) FROM tenant_acme.notes`) == 1 })
	await(t, "it is written down why the first has not", func() bool {
		return pgtest.Query[bool](t, o.url, `SELECT coalesce(errors[1]->>'error', '') LIKE '%runtime.Goexit%' FROM public.river_job WHERE args->>'Text' = 'exits'`)
	})
}

// Attempts end.
func TestWork_FailsAfterAllAttempts(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.insert(t, o.tenant(t, "acme"), note{"x"})
	attempts := 0
	for range 16 {
		o.runDue(t, jobs.Handle(func(context.Context, note) error { attempts++; return errors.New("no") }))
		o.soon(t)
	}
	if job := o.only(t); job.Status != jobs.Failed || attempts != 15 {
		t.Errorf("%s after %d attempts, want it failed after 15", job.Status, attempts)
	}
}

// Later is no attempt and no failure.
func TestWork_Later(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.insert(t, o.tenant(t, "acme"), note{"x"})
	runs := 0
	handler := jobs.Handle(func(context.Context, note) error {
		if runs++; runs == 1 {
			return jobs.Later(time.Hour)
		}
		return nil
	})
	o.runDue(t, handler)
	if job := o.only(t); job.Status != jobs.Pending || job.Attempts != 0 || len(job.Errors) != 0 || time.Until(job.DueAt) < 59*time.Minute {
		t.Errorf("%+v; want it pending for an hour", job)
	}
	o.soon(t)
	o.runDue(t, handler)
	if job := o.only(t); job.Status != jobs.Done || runs != 2 {
		t.Errorf("%+v after %d runs; want it done", job, runs)
	}
}

// Replicas share the jobs: each job is run by one of them, once.
func TestWork_OneReplicaRunsAJob(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme := o.tenant(t, "acme")
	const n = 60
	var runs [n]atomic.Int32
	var ran [2]atomic.Int32
	for i, replica := range []*harness{o, openHarness(t, o.url)} {
		replica.start(t, jobs.Options{Slots: 3}, jobs.Handle(func(_ context.Context, x note) error {
			runs[len(x.Text)].Add(1)
			ran[i].Add(1)
			time.Sleep(time.Millisecond) // leaves something to the other one
			return nil
		}))
	}
	for i := range n {
		o.insert(t, acme, note{strings.Repeat("x", i)})
	}
	await(t, "all are done", func() bool {
		return pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_job WHERE state = 'completed'`) == n
	})
	for i := range runs {
		if got := runs[i].Load(); got != 1 {
			t.Errorf("job %d ran %d times", i, got)
		}
	}
	if ran[0].Load() == 0 || ran[1].Load() == 0 {
		t.Errorf("the replicas ran %d and %d jobs, want both some", ran[0].Load(), ran[1].Load())
	}
}

// A replica leaves jobs alone whose kind it does not know: they wait, with all
// their attempts, for one that does.
func TestWork_AnUnknownKindWaits(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme := o.tenant(t, "acme")
	o.insertShared(t, sweep{})
	o.insert(t, acme, note{"x"})
	o.start(t, jobs.Options{}, jobs.Handle(o.write))
	await(t, "the known one is done", func() bool {
		return pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_job WHERE state = 'completed'`) == 1
	})
	if n := pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_job WHERE kind = 'sweep' AND state = 'available' AND attempt = 0`); n != 1 {
		t.Error("the unknown one was touched")
	}
}

// A job whose process is gone runs again when it is taken for lost.
func TestWork_AJobOfALostProcessRunsAgain(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.insert(t, o.tenant(t, "acme"), note{"x"})
	pgtest.Exec(t, o.url, `UPDATE public.river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '16 minutes'`)
	o.start(t, jobs.Options{}, jobs.Handle(o.write))
	await(t, "it is found", func() bool {
		return pgtest.Query[string](t, o.url, `SELECT state::text FROM public.river_job`) != "running"
	})
	o.soon(t)
	await(t, "it is done", func() bool {
		return pgtest.Query[string](t, o.url, `SELECT state::text FROM public.river_job`) == "completed"
	})
}

// A handler that ignores the end of its time keeps its slot from nobody for long.
func TestWork_AStuckHandlerLeavesItsSlot(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.insert(t, o.tenant(t, "acme"), note{"hangs"})
	release := make(chan struct{})
	defer close(release)
	o.start(t, jobs.Options{Slots: 1, Timeout: 50 * time.Millisecond, Shutdown: time.Second}, jobs.Handle(func(ctx context.Context, n note) error {
		if n.Text == "hangs" {
			<-release
			return nil
		}
		return o.write(ctx, n)
	}))
	o.insert(t, o.tenant(t, "globex"), note{"next"})
	await(t, "the other tenant's ran", func() bool { return o.statuses(t, "globex")[jobs.Done] == 1 })
}

// From the end of its context an engine claims nothing new, waits for what runs,
// ends it in time, and returns within Shutdown; what was cut short runs again,
// and its attempt does not count.
func TestRun_EndsInTime(t *testing.T) {
	t.Parallel()
	const shutdown = 2 * time.Second
	o := newHarness(t)
	acme := o.tenant(t, "acme")
	o.insert(t, acme, note{"quick"})
	o.insert(t, acme, note{"long"})
	o.insert(t, acme, note{"waits"})
	var began sync.WaitGroup
	began.Add(2)
	stopping, ran := make(chan struct{}), make(chan string, 10)
	stop := o.start(t, jobs.Options{Slots: 2, Shutdown: shutdown}, jobs.Handle(func(ctx context.Context, n note) error {
		began.Done()
		ran <- n.Text
		<-stopping
		if n.Text == "long" {
			<-ctx.Done()
			return errors.New("cut short")
		}
		return nil
	}))
	began.Wait()
	asked := time.Now()
	time.AfterFunc(shutdown/4, func() { close(stopping) })
	stop()
	if took := time.Since(asked); took > shutdown {
		t.Errorf("it took %v, want at most %v", took, shutdown)
	}
	if len(ran) != 2 {
		t.Errorf("%d jobs ran, want those two that had begun", len(ran))
	}
	for text, want := range map[string]string{"quick": "completed 1", "long": "available 0", "waits": "available 0"} {
		if got := pgtest.Query[string](t, o.url, `SELECT state || ' ' || attempt FROM public.river_job WHERE args->>'Text' = $1`, text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// A handler that ignores its context holds nobody up.
func TestRun_LeavesAStuckHandlerBehind(t *testing.T) {
	t.Parallel()
	const shutdown = time.Second
	o := newHarness(t)
	o.insert(t, o.tenant(t, "acme"), note{"x"})
	began, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	stop := o.start(t, jobs.Options{Shutdown: shutdown}, jobs.Handle(func(context.Context, note) error {
		close(began)
		<-release
		return nil
	}))
	<-began
	asked := time.Now()
	stop()
	if took := time.Since(asked); took < shutdown*9/10 || took > shutdown+3*time.Second {
		t.Errorf("it took %v, want %v", took, shutdown)
	}
}

// An attempt has its time.
func TestRun_AnAttemptEndsWithItsTime(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.insert(t, o.tenant(t, "acme"), note{"x"})
	o.start(t, jobs.Options{Timeout: 50 * time.Millisecond}, jobs.Handle(func(ctx context.Context, _ note) error { <-ctx.Done(); return ctx.Err() }))
	await(t, "the attempt has failed", func() bool {
		job := o.only(t)
		return len(job.Errors) == 1 && strings.Contains(job.Errors[0].Error, "deadline")
	})
}

// Where no jobs are declared nothing is connected, and no table is looked at.
func TestRun_OfNoJobsDoesNothing(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	e := o.engine(t, jobs.Options{})
	e.Run(t.Context()) // returns at once
	must(t, e.RunDue(t.Context()))
	if n := pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_queue`); n != 0 {
		t.Error("River was started")
	}
	o.start(t, jobs.Options{}, jobs.Handle(o.write)) // which does
	await(t, "River shows", func() bool { return pgtest.Query[int](t, o.url, `SELECT count(*) FROM public.river_queue`) == 1 })
}

// What cannot be is refused at start, all of it in one message.
func TestNew_RefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	h, s := jobs.Handle(o.write), jobs.Shared(func(context.Context, sweep) error { return nil })
	_, err := jobs.New(o.db, []jobs.Declared{h, h, s, jobs.Handle(func(context.Context, spaced) error { return nil }),
		jobs.Every(time.Hour, note{}), jobs.EveryTenant(time.Hour, sweep{}), jobs.Every(time.Second, sweep{}), jobs.Every(time.Hour, missing{}),
	}, jobs.Options{})
	if err == nil {
		t.Fatal("nothing is refused")
	}
	for _, want := range []string{`"note" has two handlers`, `"with space"`, `"note" is a tenant's`, `"sweep" is shared`, `"sweep" has two schedules`, `"missing" has a schedule and no handler`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in: %v", want, err)
		}
	}
	if _, err := jobs.New(o.db, []jobs.Declared{s, jobs.Every(time.Second, sweep{})}, jobs.Options{}); err == nil || !strings.Contains(err.Error(), "at least 5s") {
		t.Errorf("every second: %v", err)
	}
}

type spaced struct{}

func (spaced) Kind() string { return "with space" }

type missing struct{}

func (missing) Kind() string { return "missing" }
