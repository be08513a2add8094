package simulator

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// sendDue makes the attempts whose time has come, until ctx ends and those
// under way have ended too.
func (p *Platform) sendDue(ctx context.Context) {
	var attempts sync.WaitGroup
	defer attempts.Wait()
	for ctx.Err() == nil {
		changed := p.nextChange()
		due, wait := p.due(time.Now())
		for _, id := range due {
			attempts.Go(func() { p.attempt(ctx, id) })
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(wait):
		}
	}
}

// due returns the deliveries to attempt now, which it takes off the schedule,
// and how long there is nothing else to do unless something changes.
func (p *Platform) due(now time.Time) (ids []string, wait time.Duration) {
	defer p.lock()()
	wait = time.Hour
	for i := range p.state.Deliveries {
		d := &p.state.Deliveries[i]
		switch until := d.NextAttempt.Sub(now); {
		case d.Status != DeliveryPending || d.NextAttempt.IsZero():
		case until > 0:
			wait = min(wait, until)
		default:
			d.NextAttempt = time.Time{}
			ids = append(ids, d.ID)
		}
	}
	return ids, wait
}

// Delivery returns one delivery as it is now, or ErrUnknown.
func (p *Platform) Delivery(id string) (Delivery, error) { return lookup(p, &p.state.Deliveries, id) }

// Deliveries returns the log, newest first.
func (p *Platform) Deliveries() []Delivery {
	log := all(p, &p.state.Deliveries)
	slices.Reverse(log)
	return log
}

// Await returns the delivery when it is no longer pending, with its retries
// made (which takes a Run), or the context's error.
func (p *Platform) Await(ctx context.Context, id string) (Delivery, error) {
	for {
		changed := p.nextChange()
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

func (p *Platform) sendAny(r *http.Request, in sendInput) (Delivery, error) {
	switch {
	case in.Body != "":
		return p.Send(r.Context(), in.EventType, []byte(in.Body))
	case in.EventType == "":
		return Delivery{}, fmt.Errorf("%w: an event needs a type or a body", ErrInvalid)
	case in.Tenant == "":
		return p.Send(r.Context(), in.EventType, nil)
	}
	return p.transition(r.Context(), in.Tenant, in.EventType, func(*Tenant) error { return nil })
}

// deliveryLogs is GET /webhooks/delivery-logs?product=&status=, newest first.
func (p *Platform) deliveryLogs(r *http.Request, who caller, _ nothing) (any, error) {
	log := []Delivery{}
	if matches(r.FormValue("product"), p.Product().Slug) {
		log = p.filtered(r, who)
	}
	return map[string]any{"deliveries": log}, nil
}

// filtered is the log, newest first, by the request's status and tenant.
func (p *Platform) filtered(r *http.Request, who caller) []Delivery {
	return slices.DeleteFunc(p.Deliveries(), func(d Delivery) bool {
		return !who.maySee(d.Tenant) || !matches(r.FormValue("status"), d.Status) || !matches(r.FormValue("tenant"), d.Tenant)
	})
}

// matches is a filter's rule: an empty one lets everything through.
func matches(filter, value string) bool { return cmp.Or(filter, value) == value }

// oneDelivery is GET /_sim/deliveries/{id}; with ?wait=10s it answers when the
// delivery is no longer pending, or after that time.
func (p *Platform) oneDelivery(r *http.Request, _ nothing) (Delivery, error) {
	limit, err := time.ParseDuration(cmp.Or(r.FormValue("wait"), "0s"))
	if err != nil {
		return Delivery{}, fmt.Errorf("%w: wait must be like 10s", ErrInvalid)
	}
	ctx, cancel := context.WithTimeout(r.Context(), min(limit, time.Minute))
	defer cancel()
	d, err := p.Await(ctx, r.PathValue("id"))
	if d.ID != "" {
		return d, nil
	}
	return d, err
}
