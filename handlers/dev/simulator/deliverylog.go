package simulator

import (
	"context"
	"fmt"
	"net/http"
	"time"
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

// sendInput is an event: body as it is, or else a well-formed one about tenant.
type sendInput struct {
	EventType string `json:"eventType"`
	Tenant    string `json:"tenant"`
	Body      string `json:"body"`
}

func (p *Platform) apiSend(r *http.Request, in sendInput) (Delivery, error) {
	if in.Body != "" {
		return p.Send(r.Context(), in.EventType, []byte(in.Body))
	}
	if in.EventType == "" {
		return Delivery{}, fmt.Errorf("%w: an event needs a type or a body", ErrInvalid)
	}
	if in.Tenant == "" {
		return p.Send(r.Context(), in.EventType, nil)
	}
	return p.transition(r.Context(), in.Tenant, in.EventType, func(*Tenant) error { return nil })
}

type idInput struct {
	ID string `json:"id"`
}

func (p *Platform) apiResend(r *http.Request, in idInput) (Delivery, error) {
	return p.Resend(r.Context(), in.ID)
}

// apiDeliveries is the log, newest first, filtered by status and tenant.
func (p *Platform) apiDeliveries(r *http.Request, _ nothing) (any, error) {
	list := []Delivery{}
	for _, d := range p.Deliveries() {
		if matches(r.FormValue("status"), d.Status) && matches(r.FormValue("tenant"), d.Tenant) {
			list = append(list, d)
		}
	}
	return map[string]any{"deliveries": list}, nil
}

// apiDelivery is one delivery; with ?wait=10s when it is no longer pending, or
// as it is after that time.
func (p *Platform) apiDelivery(r *http.Request, _ nothing) (Delivery, error) {
	wait := r.FormValue("wait")
	if wait == "" {
		return p.Delivery(r.PathValue("id"))
	}
	limit, err := time.ParseDuration(wait)
	if err != nil {
		return Delivery{}, fmt.Errorf("%w: wait is to be like 10s", ErrInvalid)
	}
	ctx, cancel := context.WithTimeout(r.Context(), min(limit, time.Minute))
	defer cancel()
	d, err := p.Await(ctx, r.PathValue("id"))
	if ctx.Err() != nil {
		return d, nil
	}
	return d, err
}
