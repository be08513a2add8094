package jobs_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"example.com/subproduct/tenancy/jobs"
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
