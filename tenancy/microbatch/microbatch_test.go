package microbatch_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/subproduct/tenancy/microbatch"
)

var errRefused = errors.New("refused")

// queue has one run at a time, of three calls at most, which lasts until it is
// told how to end.
type queue struct {
	microbatch.Queue[string]
	mu   sync.Mutex
	runs []string // the calls of each that has begun
	end  chan error
}

func newQueue() *queue {
	q := &queue{end: make(chan error)}
	q.AtOnce, q.Most = 1, 3
	q.Run = func(ctx context.Context, calls []string) error {
		q.mu.Lock()
		q.runs = append(q.runs, strings.Join(calls, " "))
		q.mu.Unlock()
		select {
		case err := <-q.end:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return q
}

// call returns what its caller will be told.
func (q *queue) call(ctx context.Context, name string) <-chan error {
	told := make(chan error, 1)
	go func() { told <- q.Do(ctx, name) }()
	synctest.Wait()
	return told
}

func (q *queue) wantRuns(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Equal(q.runs, want) {
		t.Fatalf("runs of %q, want %q", q.runs, want)
	}
}

func want(t *testing.T, told <-chan error, want error) {
	t.Helper()
	if err := <-told; !errors.Is(err, want) {
		t.Errorf("a caller is told %v, want %v", err, want)
	}
}

// A lone call runs at once; those that come meanwhile run together, in order.
func TestQueue_CallsThatComeMeanwhileRunTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		a := q.call(t.Context(), "a")
		q.wantRuns(t, "a")
		b, c, d, e := q.call(t.Context(), "b"), q.call(t.Context(), "c"), q.call(t.Context(), "d"), q.call(t.Context(), "e")
		q.end <- nil
		want(t, a, nil)
		q.wantRuns(t, "a", "b c d")
		q.end <- errRefused
		for _, told := range []<-chan error{b, c, d} {
			want(t, told, errRefused)
		}
		q.wantRuns(t, "a", "b c d", "e")
		q.end <- nil
		want(t, e, nil)
	})
}

// Who leaves while they wait is in no run; who leaves a run harms nobody who
// shares it; it ends with the last deadline.
func TestQueue_WhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		short, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		long, end := context.WithTimeout(t.Context(), 3*time.Second)
		defer end()
		dropped, leaveAtOnce := context.WithCancel(t.Context())
		leaving, leave := context.WithTimeout(t.Context(), 2*time.Second)
		a := q.call(t.Context(), "a")
		b, c, d, e := q.call(dropped, "b"), q.call(leaving, "c"), q.call(short, "d"), q.call(long, "e")
		leaveAtOnce()
		want(t, b, context.Canceled)
		q.end <- nil
		want(t, a, nil)
		q.wantRuns(t, "a", "c d e")
		f := q.call(t.Context(), "f")
		leave()
		want(t, c, context.Canceled)
		want(t, d, context.DeadlineExceeded)
		q.wantRuns(t, "a", "c d e")
		want(t, e, context.DeadlineExceeded)
		q.wantRuns(t, "a", "c d e", "f")
		q.end <- nil
		want(t, f, nil)
	})
}

// Whose deadline is the run's is told what became of it, where it went well
// after all.
func TestQueue_TheLastToLeaveHearsOfSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Run = func(ctx context.Context, _ []string) error { <-ctx.Done(); time.Sleep(time.Second); return nil }
		ctx, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		want(t, q.call(ctx, "a"), nil)
	})
}

// What failed in that instant is no success.
func TestQueue_TheLastToLeaveHearsOfNoFailureAsSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Run = func(ctx context.Context, _ []string) error { <-ctx.Done(); return errRefused }
		ctx, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if err := <-q.call(ctx, "a"); err == nil {
			t.Error("a call whose run was refused is told that it went well")
		}
	})
}

// A call that weighs more than a run may runs all the same: alone.
func TestQueue_ACallHeavierThanARunRunsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Weight = func(name string) int { return len(name) }
		a := q.call(t.Context(), "a")
		b, heavy, c, d := q.call(t.Context(), "b"), q.call(t.Context(), "heavy"), q.call(t.Context(), "c"), q.call(t.Context(), "dd")
		runs := []string{"a"}
		for _, next := range []string{"b", "heavy", "c dd"} {
			q.wantRuns(t, runs...)
			q.end <- nil
			runs = append(runs, next)
		}
		q.wantRuns(t, runs...)
		q.end <- nil
		for _, told := range []<-chan error{a, b, heavy, c, d} {
			want(t, told, nil)
		}
	})
}

func TestQueue_APanicIsAnErrorOfItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Run = func(context.Context, []string) error { panic("boom") }
		for range 2 {
			if err := q.Do(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "boom") {
				t.Errorf("%v, want the panic", err)
			}
		}
	})
}
