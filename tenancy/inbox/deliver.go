package inbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Delivery is a verified event as it came over the wire.
type Delivery struct {
	Type       string
	Tenant     string // as the body spells it; empty when it names none
	Body       []byte // raw
	SignedWith string // "current" or "previous": which secret verified it
}

// Outcome is what became of an event while its sender waited.
type Outcome int

// Outcomes of Deliver.
const (
	Applied     Outcome = iota + 1 // now or before
	Unhandled                      // nobody handles its type
	Accepted                       // stored, and applied later
	FailedOnce                     // stored, this attempt failed, tried again later
	Interrupted                    // as FailedOnce, by the database's fault
	Rejected                       // stored, and can never succeed
)

// outcomes of finished events.
var outcomes = map[string]Outcome{Done: Applied, Ignored: Unhandled, Failed: Rejected}

// lookAgain is how long a delivery waits before it tries again for a tenant
// that another process has in work.
const lookAgain = 50 * time.Millisecond

// Deliver stores an event and applies it when it is its turn. When ctx ends
// first the outcome is Accepted and the work goes on; Deliver never takes longer
// than ctx allows. The same bytes within 24 hours are the same event, but for a
// lifecycle event that was answered before its tenant changed its state. An
// error means that nothing is stored, or that this cannot be known: the
// platform must send it again.
func (in *Inbox) Deliver(ctx context.Context, d Delivery) (Outcome, error) {
	s, err := in.store(ctx, d)
	if err != nil {
		return 0, fmt.Errorf("store event: %w", err)
	}
	outcome := outcomes[s.status]
	for outcome == 0 && err == nil {
		outcome, err = in.apply(ctx, &s)
	}
	if err != nil {
		return 0, fmt.Errorf("apply event: %w", err)
	}
	if outcome == Accepted && s.lifecycle { // its completion writes down that it was answered
		in.mu.Lock()
		in.answered[s.id] = true
		in.mu.Unlock()
	}
	return outcome, nil
}

// apply has the tenant drained until the event is settled. Without an outcome
// another look is worth it. An error means that the event is gone, with a tenant
// that was purged.
func (in *Inbox) apply(ctx context.Context, s *stored) (Outcome, error) {
	drain, settled := in.drain(s.tenant, s.id)
	if drain == nil {
		return Accepted, nil // closing
	}
	select {
	case outcome := <-settled:
		return outcome, nil
	case <-drain.over:
	case <-ctx.Done():
		return Accepted, nil
	}
	switch err := in.read(ctx, s, `id = $1`, s.id); {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, err
	case err != nil:
		return Accepted, nil // it is stored, and that is all that is known
	case s.failed:
		return FailedOnce, nil
	case s.status != Pending:
		return outcomes[s.status], nil
	case drain.end != busy:
		return Accepted, nil // behind one that fails, for example
	}
	select {
	case <-time.After(lookAgain):
		return 0, nil
	case <-ctx.Done():
		return Accepted, nil
	}
}

func (in *Inbox) answeredIDs() []int64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.AppendSeq([]int64{}, maps.Keys(in.answered))
}
