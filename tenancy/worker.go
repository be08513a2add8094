package tenancy

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Run takes up whatever is stored and not done, from any replica's past, and
// sweeps what is finished, until ctx ends. It polls: LISTEN would hear nothing
// behind a transaction pooler.
func (in *Inbox) Run(ctx context.Context) {
	var sweeping sync.WaitGroup
	defer sweeping.Wait()
	sweeping.Go(func() { in.keepSweeping(ctx) })
	poll := time.NewTimer(0)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
			poll.Reset(in.poll(ctx))
		}
	}
}

// poll starts work on what is due and says when to look again.
func (in *Inbox) poll(ctx context.Context) time.Duration {
	pause := in.options.Poll/2 + rand.N(in.options.Poll)
	free := cap(in.slots) - len(in.slots)
	if free == 0 {
		return pause
	}
	due, err := in.claim(ctx, free)
	if err != nil {
		if ctx.Err() == nil {
			in.log.ErrorContext(ctx, "inbox: cannot look for work", "error", err)
		}
		return pause
	}
	for _, c := range due {
		in.take(ctx, c)
	}
	if len(due) == free {
		return in.options.Poll / 10
	}
	return pause
}

// take works on an event that was claimed.
func (in *Inbox) take(ctx context.Context, c claimed) {
	switch {
	case c.status == EventFailed:
		in.log.ErrorContext(ctx, "event failed for good: see `events show`, then `events retry`",
			"event_id", c.id, "tenant", c.slug.String(), "error", lostAttempt)
	case c.free:
		in.start(func() { in.resume(c) })
	}
}

// resume makes a claimed attempt.
func (in *Inbox) resume(c claimed) {
	err := in.work(job{c.slug, c.id, true, time.Now().Add(lockWait)})
	if err != nil {
		in.log.Debug("event not applied", "event_id", c.id, "tenant", c.slug.String(), "error", err)
	}
}
