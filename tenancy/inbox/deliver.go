package inbox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.com/subproduct/tenancy"
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
	Applied    Outcome = iota + 1 // now or before
	Unhandled                     // nobody handles its type
	Accepted                      // stored, and applied later
	FailedOnce                    // stored, this attempt failed, tried again later
	Rejected                      // stored, and can never succeed
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
	slug, _ := tenancy.ParseSlug(d.Tenant)
	for s.status == Pending {
		outcome, err := in.apply(ctx, slug, &s)
		if err != nil { // it is stored, and that is all that is known
			outcome = Accepted
		}
		if outcome != 0 {
			return in.reported(s.id, outcome), nil
		}
	}
	return outcomes[s.status], nil
}

// apply has the tenant drained until the event is settled. Without an outcome s
// is what the event is now, and worth another look.
func (in *Inbox) apply(ctx context.Context, slug tenancy.Slug, s *stored) (Outcome, error) {
	drain, settled := in.drain(slug, s.id)
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
	now, err := in.read(ctx, `id = $1`, s.id)
	if err != nil {
		return 0, err
	}
	*s = now
	switch {
	case s.status != Pending:
		return 0, nil
	case s.failed:
		return FailedOnce, nil
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

// reported remembers that the platform was answered 2xx for an event that is
// not finished: its completion writes that down.
func (in *Inbox) reported(id int64, outcome Outcome) Outcome {
	if outcome == Accepted {
		in.mu.Lock()
		in.answered[id] = true
		in.mu.Unlock()
	}
	return outcome
}

func (in *Inbox) answeredIDs() []int64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.AppendSeq([]int64{}, maps.Keys(in.answered))
}
