package simulator

import (
	"context"
	"fmt"
)

// Delivery returns one delivery as it is now, or ErrUnknown.
func (p *Platform) Delivery(id string) (Delivery, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.state.delivery(id)
	if r == nil {
		return Delivery{}, fmt.Errorf("delivery %s: %w", id, ErrUnknown)
	}
	return r.copy(), nil
}

// Deliveries returns the log, newest first.
func (p *Platform) Deliveries() []Delivery {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Delivery, 0, len(p.state.Deliveries))
	for i := len(p.state.Deliveries) - 1; i >= 0; i-- {
		all = append(all, p.state.Deliveries[i].copy())
	}
	return all
}

// Await returns the delivery when it is no longer pending, with its retries
// made (which takes a Run), or the context's error.
func (p *Platform) Await(ctx context.Context, id string) (Delivery, error) {
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		d, err := p.Delivery(id)
		if err != nil || d.Status != DeliveryPending {
			return d, err
		}
		select {
		case <-ctx.Done():
			return d, fmt.Errorf("delivery %s: %w", id, ctx.Err())
		case <-changed:
		}
	}
}
