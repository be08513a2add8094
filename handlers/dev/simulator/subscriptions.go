package simulator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"example.com/subproduct/handlers/platform"
)

// Event types of the simulator's own: the contract says that the platform sends
// an event when a subscription's state changes, but names only two of them. A
// product must accept a type that it does not know.
const (
	subscriptionPaused  = "subscription.paused"
	subscriptionResumed = "subscription.resumed"
	subscriptionUpdated = "subscription.updated"
)

// eventBody is an event about t, or about no tenant when t is nil. The contract
// has eventType and nothing else; every other field is the simulator's own. A
// bare event has neither id nor time, as the contract shows none.
func eventBody(eventType string, t *Tenant, bare bool) []byte {
	event := map[string]any{"eventType": eventType}
	if !bare {
		event["eventId"], event["occurredAt"] = "evt_"+rand.Text(), time.Now().UTC().Truncate(time.Millisecond)
	}
	if t != nil {
		event["tenantSlug"] = t.Slug
	}
	if t != nil && !bare {
		data := map[string]string{
			"tenantName": t.Name, "tenantStatus": t.Status, "subscriptionId": t.Subscription.ID,
			"planType": t.Subscription.Plan, "subscriptionStatus": t.subscriptionStatus(),
		}
		maps.DeleteFunc(data, func(_, value string) bool { return value == "" })
		event["data"] = data
	}
	body, _ := json.Marshal(event) // of texts and a time: it cannot fail
	return body
}

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

// Pause pauses an active subscription and sends subscription.paused.
func (p *Platform) Pause(ctx context.Context, slug string) (Delivery, error) {
	return p.transition(ctx, slug, subscriptionPaused, fromTo(StatusActive, StatusPaused))
}

// Resume makes a paused subscription active and sends subscription.resumed.
func (p *Platform) Resume(ctx context.Context, slug string) (Delivery, error) {
	return p.transition(ctx, slug, subscriptionResumed, fromTo(StatusPaused, StatusActive))
}

func fromTo(from, to string) func(*Tenant) error {
	return func(t *Tenant) error {
		if status := t.subscriptionStatus(); status != from {
			return fmt.Errorf("%w: the subscription is %s, not %s", ErrInvalid, status, from)
		}
		t.Status, t.Subscription.Status = to, to
		return nil
	}
}

// ChangePlan gives the tenant's subscription another plan, which user-info names
// from then on, and sends subscription.updated.
func (p *Platform) ChangePlan(ctx context.Context, slug, plan string) (Delivery, error) {
	return p.transition(ctx, slug, subscriptionUpdated, func(t *Tenant) error {
		if t.Subscription.ID == "" || plan == "" {
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
		if t.Subscription.ID != "" {
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
	defer p.change()()
	t, err := find(p.state.Tenants, slug)
	if err == nil {
		err = change(t)
	}
	if err != nil {
		return nil, err
	}
	return eventBody(eventType, t, p.faults.DeliveryBare), nil
}
