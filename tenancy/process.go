package tenancy

import (
	"context"
	"errors"
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

// Process applies a stored event and those of its tenant that came before it.
// When ctx ends first the outcome is Accepted and the work goes on; Process
// never takes longer than ctx allows.
func (in *Inbox) Process(ctx context.Context, s Stored) Outcome {
	switch s.Status {
	case EventDone:
		return Done
	case EventIgnored:
		return Ignored
	case EventFailed:
		return Rejected
	}
	until, _ := ctx.Deadline()
	result := make(chan error, 1)
	if !in.start(func() { result <- in.work(job{slug: s.Tenant, id: s.ID, until: until}) }) {
		return Accepted
	}
	select {
	case err := <-result:
		return in.outcome(ctx, s.ID, err)
	case <-ctx.Done():
		return Accepted
	}
}

// outcome tells whether an error was the event's own, or no attempt was made,
// or another did the work.
func (in *Inbox) outcome(ctx context.Context, id int64, err error) Outcome {
	if err == nil {
		return Done
	}
	if errors.Is(err, errBusy) || errors.Is(err, errBehind) || in.base.Err() != nil {
		return Accepted
	}
	var status string
	var attempts int
	read := in.db.pool.QueryRow(ctx, `SELECT status, attempts FROM public.webhook_events WHERE id = $1`, id).Scan(&status, &attempts)
	switch {
	case ctx.Err() != nil:
		return Accepted
	case read != nil:
		return FailedNow
	case status == EventDone:
		return Done
	case status == EventFailed:
		return Rejected
	case attempts == 0:
		return Accepted // the database failed, not the event
	}
	return FailedNow
}
