package simulator

import (
	"context"
	"fmt"

	"example.com/subproduct/handlers/platform"
)

// Event types of the simulator's own: the contract says that the platform sends
// an event when a subscription's state changes, but names only two of them. A
// product must take one that it does not know.
const (
	subscriptionPaused  = "subscription.paused"
	subscriptionResumed = "subscription.resumed"
	subscriptionUpdated = "subscription.updated"
)

// Subscribe gives the tenant a new active subscription to plan and sends the
// product subscription.created (contract, section 6). The tenant is made, with
// a first user, when it is new, and is active again when it was cancelled.
//
// Like every call that sends an event it returns when the first attempt is
// over, whatever its outcome; a delivery that a fault holds back is returned at
// once, still pending. The error is about the call, never about the product.
func (p *Platform) Subscribe(ctx context.Context, slug, plan string) (Delivery, error) {
	if slug == "" || plan == "" {
		return Delivery{}, fmt.Errorf("%w: a subscription needs a slug and a plan", ErrInvalid)
	}
	p.AddTenant(slug, "", "")
	return p.transition(ctx, slug, platform.SubscriptionCreated, func(t *Tenant) error {
		t.Status = StatusActive
		p.state.subscribe(t, plan)
		return nil
	})
}

// Pause pauses an active subscription and sends the simulator's own event
// subscription.paused.
func (p *Platform) Pause(ctx context.Context, slug string) (Delivery, error) {
	return p.transition(ctx, slug, subscriptionPaused, func(t *Tenant) error {
		if t.subscriptionStatus() != StatusActive {
			return fmt.Errorf("%w: only an active subscription can be paused, this one is %s", ErrInvalid, t.subscriptionStatus())
		}
		t.Status, t.Subscription.Status = StatusPaused, StatusPaused
		return nil
	})
}

// Resume makes a paused subscription active again and sends the simulator's own
// event subscription.resumed.
func (p *Platform) Resume(ctx context.Context, slug string) (Delivery, error) {
	return p.transition(ctx, slug, subscriptionResumed, func(t *Tenant) error {
		if t.subscriptionStatus() != StatusPaused {
			return fmt.Errorf("%w: only a paused subscription can be resumed, this one is %s", ErrInvalid, t.subscriptionStatus())
		}
		t.Status, t.Subscription.Status = StatusActive, StatusActive
		return nil
	})
}

// ChangePlan gives the tenant's subscription another plan, which user-info names
// from then on, and sends the simulator's own event subscription.updated.
func (p *Platform) ChangePlan(ctx context.Context, slug, plan string) (Delivery, error) {
	return p.transition(ctx, slug, subscriptionUpdated, func(t *Tenant) error {
		if t.Subscription == nil || plan == "" {
			return fmt.Errorf("%w: a change of plan needs a subscription and a plan", ErrInvalid)
		}
		t.Subscription.Plan = plan
		return nil
	})
}

// Cancel cancels the tenant and sends tenant.cancelled (contract, section 6).
func (p *Platform) Cancel(ctx context.Context, slug string) (Delivery, error) {
	return p.transition(ctx, slug, platform.TenantCancelled, func(t *Tenant) error {
		if t.Status == StatusCancelled {
			return fmt.Errorf("%w: the tenant is cancelled already", ErrInvalid)
		}
		t.Status = StatusCancelled
		if t.Subscription != nil {
			t.Subscription.Status = StatusCancelled
		}
		return nil
	})
}

// transition changes a tenant and sends the event about it, as it was then.
func (p *Platform) transition(ctx context.Context, slug, eventType string, change func(*Tenant) error) (Delivery, error) {
	body, err := p.changeTenant(slug, eventType, change)
	if err != nil {
		return Delivery{}, fmt.Errorf("%s for %q: %w", eventType, slug, err)
	}
	return p.Send(ctx, eventType, body)
}

func (p *Platform) changeTenant(slug, eventType string, change func(*Tenant) error) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.state.tenant(slug)
	if t == nil {
		return nil, fmt.Errorf("%w: no such tenant", ErrUnknown)
	}
	if err := change(t); err != nil {
		return nil, err
	}
	p.touch()
	if p.faults.DeliveryBare {
		return bareBody(eventType, t)
	}
	return eventBody(eventType, t)
}
