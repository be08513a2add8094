// Package microbatch runs calls together that come while earlier ones are under
// way, so that a busy server needs fewer statements. No call waits for others to
// come: a lone one runs at once.
package microbatch

import (
	"context"
	"slices"
	"sync"
	"time"

	"example.com/subproduct/tenancy/panics"
)

// Queue has the calls of one kind; its exported fields do not change.
type Queue[T any] struct {
	AtOnce int         // runs under way
	Most   int         // what the calls of a run may weigh together
	Weight func(T) int // of a call; nil: each weighs 1. One that weighs more than Most runs alone
	// Run does what the calls ask for, in the order in which they came. ctx has the
	// values of the first call's, and ends with the last deadline of them all. Who
	// leaves before has nothing cancelled: it may be soon done, and a pooler may
	// suffer from requests to cancel.
	Run func(ctx context.Context, calls []T) error

	mu      sync.Mutex
	waiting []*call[T]
	busy    int
}

type call[T any] struct {
	ctx   context.Context
	of    T
	until time.Time // its deadline
	run   *run      // nil: it waits
	done  chan struct{}
	err   error // of its run; set before done is closed
}

type run struct {
	until  time.Time
	cancel context.CancelFunc
}

// longest is for calls without a deadline.
const longest = 30 * time.Second

// Do returns what Run says of the call. When ctx ends first it returns ctx's
// error: a call that still waited is dropped, one under way goes on for those
// who wait for others of its run, and may still be using it.
func (q *Queue[T]) Do(ctx context.Context, of T) error {
	c := &call[T]{ctx: ctx, of: of, until: time.Now().Add(longest), done: make(chan struct{})}
	if deadline, limited := ctx.Deadline(); limited {
		c.until = deadline
	}
	q.mu.Lock()
	q.waiting = append(q.waiting, c)
	if q.busy < q.AtOnce {
		q.busy++
		go q.work()
	}
	q.mu.Unlock()
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
	}
	if q.leave(c) {
		<-c.done
	}
	select {
	case <-c.done: // it was over at the same instant
		if c.err == nil {
			return nil
		}
	default:
	}
	return ctx.Err()
}

// leave reports whether the call's run ends at the same time as its ctx.
func (q *Queue[T]) leave(c *call[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.run == nil {
		q.waiting = slices.DeleteFunc(q.waiting, func(other *call[T]) bool { return other == c })
		return false
	}
	return !c.until.Before(c.run.until) && !time.Now().Before(c.until)
}

func (q *Queue[T]) work() {
	for ctx, calls := q.next(); calls != nil; ctx, calls = q.next() {
		of := make([]T, len(calls))
		for i, c := range calls {
			of[i] = c.of
		}
		err := panics.AsError(func() error { return q.Run(ctx, of) })
		for _, c := range calls {
			c.err = err
			close(c.done)
		}
		calls[0].run.cancel()
	}
}

// next are those who wait, in the order in which they came. nil: nobody, and the
// work is over.
func (q *Queue[T]) next() (ctx context.Context, calls []*call[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r, weight := &run{}, 0
	for _, c := range q.waiting {
		weight += q.weight(c.of)
		if calls != nil && weight > q.Most {
			break
		}
		c.run, calls = r, append(calls, c)
		if c.until.After(r.until) {
			r.until = c.until
		}
	}
	if calls == nil {
		q.busy--
		return nil, nil
	}
	q.waiting = slices.Delete(q.waiting, 0, len(calls)) // which forgets them
	ctx, r.cancel = context.WithDeadline(context.WithoutCancel(calls[0].ctx), r.until)
	return ctx, calls
}

func (q *Queue[T]) weight(of T) int {
	if q.Weight == nil {
		return 1
	}
	return q.Weight(of)
}

// Waiting returns how many calls wait for a run.
func (q *Queue[T]) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}
