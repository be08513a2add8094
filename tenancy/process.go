package tenancy

import (
	"context"
	"errors"
	"time"
)

// Outcome is what became of an event while its sender waited.
type Outcome int

// Outcomes of Process.
const (
	Done      Outcome = iota // applied, now or before
	Ignored                  // nobody handles its type
	Accepted                 // stored, and the work on it goes on
	FailedNow                // stored, this attempt failed, tried again later
	Rejected                 // stored, and can never succeed
)

// patience is how long Process waits for an event's turn under a context that
// has no end.
const patience = 5 * time.Second

// Process applies a stored event when it is its turn. When ctx ends first the
// outcome is Accepted and the work goes on; Process never takes longer than ctx
// allows.
func (in *Inbox) Process(ctx context.Context, s Stored) Outcome {
	switch s.Status {
	case EventDone:
		return Done
	case EventIgnored:
		return Ignored
	case EventFailed:
		return Rejected
	}
	until, ok := ctx.Deadline()
	if !ok {
		until = time.Now().Add(patience)
	}
	result := make(chan error, 1)
	if !in.start(func() { result <- in.work(job{s.Tenant, s.ID, s.marked, until}) }) {
		return Accepted
	}
	select {
	case err := <-result:
		return in.outcome(ctx, s.ID, err)
	case <-ctx.Done():
		return Accepted
	}
}

// outcome tells whether an attempt failed, or was not made, or another made it.
func (in *Inbox) outcome(ctx context.Context, id int64, err error) Outcome {
	if err == nil {
		return Done
	}
	if errors.Is(err, errBusy) || errors.Is(err, errBehind) || errors.Is(err, errUntried) {
		return Accepted
	}
	var status string
	read := in.db.pool.QueryRow(ctx, `SELECT status FROM public.webhook_events WHERE id = $1`, id).Scan(&status)
	switch {
	case ctx.Err() != nil:
		return Accepted
	case read != nil:
		return FailedNow
	case status == EventDone:
		return Done
	case status == EventFailed:
		return Rejected
	}
	return FailedNow
}
