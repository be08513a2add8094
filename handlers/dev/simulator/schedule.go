package simulator

import (
	"context"
	"slices"
	"sync"
	"time"
)

// reorderLimit is how long the reorder fault waits for another delivery.
const reorderLimit = 10 * time.Second

// sendDue makes the attempts whose time has come, until ctx ends and those
// under way have ended too.
func (p *Platform) sendDue(ctx context.Context) {
	var attempts sync.WaitGroup
	defer attempts.Wait()
	for {
		due, wait, changed := p.due(time.Now())
		for _, id := range due {
			attempts.Go(func() { p.attempt(ctx, id) })
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// due returns the deliveries to attempt now, which it takes off the schedule,
// how long there is nothing to do, and what is closed when that may be wrong.
func (p *Platform) due(now time.Time) (ids []string, wait time.Duration, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait = time.Hour
	for _, r := range p.state.Deliveries {
		if r.Status != DeliveryPending || r.NextAttempt.IsZero() {
			continue
		}
		if until := r.NextAttempt.Sub(now); until > 0 {
			wait = min(wait, until)
			continue
		}
		r.NextAttempt = time.Time{}
		ids = append(ids, r.ID)
	}
	return ids, wait, p.changed
}

// release forgets that a delivery is held back; p.mu is held.
func (p *Platform) release(id string) {
	p.held = slices.DeleteFunc(p.held, func(held string) bool { return held == id })
}
