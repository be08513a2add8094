package jobs_test

import (
	"bytes"
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

// The context of a running job ends when it is cancelled, and it is not tried
// again.
func TestCancel_OfARunningJobEndsItsContext(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.insert(t, o.tenant(t, "acme"), note{"x"})
	began := make(chan struct{}, 2)
	var log bytes.Buffer
	e, err := jobs.New(o.db, []jobs.Declared{jobs.Handle(func(ctx context.Context, _ note) error {
		began <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})}, jobs.Options{Poll: 10 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); e.Run(ctx) }()
	<-began
	must(t, jobs.Cancel(t.Context(), o.db, o.only(t).ID))
	await(t, "the job is cancelled", func() bool { return o.only(t).Status == jobs.Cancelled })
	cancel()
	<-done
	if len(began) > 0 || !strings.Contains(log.String(), "cancelled while it ran") || strings.Contains(log.String(), "runs again") {
		t.Errorf("it ran %d times more:\n%s", len(began), log.String())
	}
}

// What has ended is not cancelled: its record says what became of it.
func TestCancel_OfAFinishedJobIsRefused(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	acme := o.tenant(t, "acme")
	for _, text := range []string{"done", "failed", "cancelled"} {
		o.insert(t, acme, note{text})
	}
	pgtest.Exec(t, o.url, `UPDATE public.river_job SET finalized_at = now() - interval '1 hour', state = CASE args->>'Text'
		WHEN 'done' THEN 'completed' WHEN 'failed' THEN 'discarded' ELSE 'cancelled' END::public.river_job_state`)
	all := func() string {
		return pgtest.Query[string](t, o.url, `SELECT string_agg(concat_ws(' ', id, state, finalized_at, metadata), ', ' ORDER BY id) FROM public.river_job`)
	}
	before := all()
	list, err := jobs.List(t.Context(), o.db, tenancy.Slug{}, "", 10)
	must(t, err)
	for _, job := range list {
		if err := jobs.Cancel(t.Context(), o.db, job.ID); !errors.Is(err, jobs.ErrFinished) {
			t.Errorf("%s: %v, want ErrFinished", job.Status, err)
		}
	}
	if after := all(); after != before || len(list) != 3 {
		t.Errorf("the jobs are %s, were %s", after, before)
	}
}
