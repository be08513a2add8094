package inbox

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// drainTime is how long a tenant with a backlog keeps its slot while others may
// be waiting for one.
const drainTime = 2 * time.Second

// drain applies a tenant's events one after the other until none is due. There
// is one for a tenant in a process, however many deliveries wait for it.
type drain struct {
	again   bool // somebody came: look once more
	waiting map[int64][]chan Outcome
	over    chan struct{} // closed at its end
	end     ending        // why it ended; to be read after over
}

// ending is why a drain ends.
type ending int

const (
	goesOn  ending = iota
	empty          // nothing is pending
	blocked        // the next event waits for its next attempt, or has no handler here
	busy           // another process has the tenant, or no slot for slow handlers is free
	left           // to other replicas
)

// drain starts the tenant's drain, or joins the one that runs. The channel gets
// the outcome of the event with this id, 0 for none, if this drain settles it.
// It returns nil when the inbox is closing.
func (in *Inbox) drain(slug tenancy.Slug, id int64) (*drain, <-chan Outcome) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil, nil
	}
	d := in.drains[slug]
	if d == nil {
		d = &drain{waiting: map[int64][]chan Outcome{}, over: make(chan struct{})}
		in.drains[slug] = d
		in.running.Go(func() { in.run(slug, d) })
	}
	d.again = true
	settled := make(chan Outcome, 1)
	if id != 0 {
		d.waiting[id] = append(d.waiting[id], settled)
	}
	return d, settled
}

// run holds a slot while it works, and offers it to others now and then.
func (in *Inbox) run(slug tenancy.Slug, d *drain) {
	in.slots <- struct{}{}
	defer func() { <-in.slots }()
	for since := time.Now(); in.begin(slug, d); {
		for d.end = goesOn; d.end == goesOn && in.base.Err() == nil; {
			d.end = in.step(slug, d)
			if time.Since(since) > drainTime {
				<-in.slots
				in.slots <- struct{}{}
				since = time.Now()
			}
		}
	}
}

// begin reports whether somebody has come since the last look, and ends the
// drain if not.
func (in *Inbox) begin(slug tenancy.Slug, d *drain) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if d.again && !in.closed {
		d.again = false
		return true
	}
	delete(in.drains, slug)
	close(d.over)
	return false
}

// step claims the tenant's next event, or tries it where it is claimed.
func (in *Inbox) step(slug tenancy.Slug, d *drain) ending {
	a, err := in.attempt(slug, d)
	switch {
	case err == nil && a.applied:
		in.observe(a.event.Type, Applied)
		in.settle(d, a.event.ID, Applied)
		return a.end
	case err == nil:
		return a.end
	case errors.Is(err, pgx.ErrNoRows):
		return empty
	case errors.Is(err, tenancy.ErrBusy):
		return busy
	}
	outcome := in.note(a, err)
	if outcome == FailedOnce && tenancy.IsUnavailable(err) {
		outcome = Interrupted
	}
	in.settle(d, a.event.ID, outcome)
	if outcome == Rejected {
		return goesOn
	}
	return blocked
}

// settle tells who waits for the event what became of it.
func (in *Inbox) settle(d *drain, id int64, outcome Outcome) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, waiting := range d.waiting[id] {
		waiting <- outcome
	}
	delete(d.waiting, id)
	if outcome != FailedOnce && outcome != Interrupted {
		delete(in.answered, id)
	}
}

func (in *Inbox) leave() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.leaving = true
}

// leaves reports whether the tenant's next event is left to other replicas: this
// one is about to stop, and nobody waits for any event but the one that is being
// completed.
func (in *Inbox) leaves(d *drain, completed int64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	_, waits := d.waiting[completed]
	return in.leaving && (len(d.waiting) == 0 || len(d.waiting) == 1 && waits)
}
