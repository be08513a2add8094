package inbox

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// drain applies a tenant's events one after the other until none is due. There
// is one for a tenant in a process, however many deliveries wait for it.
type drain struct {
	claimed bool // the first event's attempt is counted
	again   bool // somebody came while it ran: look once more
	waiting map[int64][]chan Outcome
	over    chan struct{} // closed at its end
	end     ending        // why it ended; to be read after over
}

// ending is why a drain ended.
type ending int

const (
	empty   ending = iota // nothing is pending
	blocked               // the next event failed and waits, or has no handler here
	busy                  // another process has the tenant, or no slow slot is free
)

// drain starts the tenant's drain, or joins the one that runs. The channel
// gets the outcome of the event with this id, 0 for none, if this drain settles
// it. It
// returns nil when the inbox is closing.
func (in *Inbox) drain(slug tenancy.Slug, id int64, claimed bool) (*drain, <-chan Outcome) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil, nil
	}
	d := in.drains[slug]
	if d == nil {
		d = &drain{claimed: claimed, waiting: map[int64][]chan Outcome{}, over: make(chan struct{})}
		in.drains[slug] = d
		in.running.Go(func() { in.run(slug, d) })
	} else {
		d.again = true
	}
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
	for since := time.Now(); ; {
		if end, over := in.step(slug, d); over && in.ended(slug, d, end) {
			return
		}
		if time.Since(since) > drainTime {
			<-in.slots
			in.slots <- struct{}{}
			since = time.Now()
		}
	}
}

// ended closes the drain, unless somebody came while it ran.
func (in *Inbox) ended(slug tenancy.Slug, d *drain, end ending) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if d.again && !in.closed {
		d.again = false
		return false
	}
	d.end = end
	delete(in.drains, slug)
	close(d.over)
	return true
}

// step claims the tenant's next event, unless that is done, and makes one
// attempt. It reports whether the drain is over, and why.
func (in *Inbox) step(slug tenancy.Slug, d *drain) (end ending, over bool) {
	if in.isClosed() {
		return busy, true
	}
	if !d.claimed {
		c, err := in.claim(slug)
		if err != nil {
			in.log.ErrorContext(in.base, "inbox: cannot claim an event", "tenant", slug.String(), "error", err)
			return blocked, true
		}
		if c.slow {
			defer func() { <-in.slow }()
		}
		if !c.claimed {
			return c.end, c.over
		}
	}
	a, err := in.attempt(slug)
	d.claimed = a.nextClaimed
	switch {
	case err == nil:
		in.settle(d, a.event.ID, Applied)
		return empty, a.event.ID != 0 && !a.nextClaimed && !a.more
	case errors.Is(err, errUnclaimed):
		return empty, false
	case errors.Is(err, pgx.ErrNoRows):
		return empty, true
	case errors.Is(err, tenancy.ErrBusy):
		return busy, true
	case a.event.ID == 0: // the database failed before an attempt was made
		in.log.ErrorContext(in.base, "inbox: cannot begin an attempt", "tenant", slug.String(), "error", err)
		return blocked, true
	}
	outcome := in.note(a, err)
	in.settle(d, a.event.ID, outcome)
	return blocked, outcome != Rejected
}

func (in *Inbox) isClosed() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.closed
}

// settle tells who waits for the event what became of it.
func (in *Inbox) settle(d *drain, id int64, outcome Outcome) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, waiting := range d.waiting[id] {
		waiting <- outcome
	}
	delete(d.waiting, id)
	if outcome != FailedOnce {
		delete(in.answered, id)
	}
}

// context of one attempt: it ends with the inbox, or with the attempt's time.
func (in *Inbox) attemptContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(in.base, in.options.AttemptTimeout)
}
