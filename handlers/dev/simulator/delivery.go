package simulator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"example.com/subproduct/handlers/platform"
)

// Statuses of a delivery.
const (
	DeliveryPending   = "pending"   // not sent yet, or a retry is to come
	DeliveryDelivered = "delivered" // a 2xx within 5 seconds
	DeliveryFailed    = "failed"    // the last retry failed too
)

const (
	keptDeliveries = 500 // the oldest finished ones go first
	reorderLimit   = 10 * time.Second
)

// Delivery is one event on its way to the product (contract, section 6).
type Delivery struct {
	ID          string    `json:"id"`
	EventType   string    `json:"eventType"`
	Tenant      string    `json:"tenant"`
	Body        string    `json:"body"`
	Raw         []byte    `json:"raw,omitempty"` // the body, when JSON cannot carry it
	Signature   string    `json:"signature"`     // as last sent; empty when none was
	Status      string    `json:"status"`
	Note        string    `json:"note,omitempty"` // where it comes from, if not from an event
	CreatedAt   time.Time `json:"createdAt"`
	NextAttempt time.Time `json:"nextAttempt,omitzero"`
	Attempts    []Attempt `json:"attempts"`

	busy bool // an attempt is under way
	held bool // by the reorder fault
}

// Attempt is one request of a delivery. Status is 0 when no answer came.
type Attempt struct {
	At           time.Time     `json:"at"`
	Took         time.Duration `json:"tookNanoseconds"`
	Status       int           `json:"status"`
	Error        string        `json:"error,omitempty"`
	Fault        string        `json:"fault,omitempty"`        // what was done to it on purpose
	ResponseBody string        `json:"responseBody,omitempty"` // the first KiB
}

func (d Delivery) key() (kind, id string) { return "delivery", d.ID }

func (d *Delivery) restore() {
	if d.Raw != nil {
		d.Body = string(d.Raw)
	}
	if d.Status == DeliveryPending && d.NextAttempt.IsZero() {
		d.NextAttempt = time.Now() // the last run ended in the middle of it
	}
}

// Send signs body as it is and sends it as an event of any type; a nil body is
// a well-formed event about no tenant. See Subscribe for when it returns.
func (p *Platform) Send(ctx context.Context, eventType string, body []byte) (Delivery, error) {
	if body == nil {
		body = eventBody(eventType, nil, false)
	}
	return p.deliver(ctx, eventType, body, "")
}

// Resend sends a delivery's body once more, signed anew, as another delivery.
func (p *Platform) Resend(ctx context.Context, id string) (Delivery, error) {
	d, err := p.Delivery(id)
	if err != nil {
		return d, err
	}
	return p.deliver(ctx, d.EventType, []byte(d.Body), "sent again: "+id)
}

// deliver makes the first attempts, those of a round all at once.
func (p *Platform) deliver(ctx context.Context, eventType string, body []byte, note string) (Delivery, error) {
	id, rounds := p.accept(eventType, body, note)
	for _, round := range rounds {
		var attempts sync.WaitGroup
		for _, id := range round {
			attempts.Go(func() { p.attempt(context.WithoutCancel(ctx), id) })
		}
		attempts.Wait()
	}
	return p.Delivery(id)
}

// accept records a delivery, with the further ones that the faults make of it,
// and returns what is to be sent right now, round by round.
func (p *Platform) accept(eventType string, body []byte, note string) (id string, rounds [][]string) {
	defer p.change()()
	var first time.Time
	if p.faults.DeliveryDelay > 0 {
		first = time.Now().Add(time.Duration(p.faults.DeliveryDelay))
	}
	id = p.record(eventType, body, note, first)
	round := []string{id}
	for range p.faults.DeliveryDuplicates {
		round = append(round, p.record(eventType, body, "duplicate of "+id, first))
	}
	for range p.faults.DeliveryBurst {
		round = append(round, p.record(eventType, freshEvent(body), "burst with "+id, first))
	}
	if !first.IsZero() {
		return id, nil
	}
	return id, p.reorder(round)
}

// reorder swaps each two deliveries while its fault is on: one is held until
// the next has been sent. p.mu is held.
func (p *Platform) reorder(round []string) [][]string {
	if held := p.release(time.Time{}); len(held) > 0 {
		return [][]string{round, held}
	}
	if !p.faults.DeliveryReorder {
		return [][]string{round}
	}
	for _, id := range round {
		if d, err := find(p.state.Deliveries, id); err == nil {
			d.held, d.NextAttempt = true, time.Now().Add(reorderLimit)
		}
	}
	return nil
}

// release ends the hold of all held deliveries and schedules them; p.mu is held.
func (p *Platform) release(next time.Time) (ids []string) {
	for i := range p.state.Deliveries {
		if d := &p.state.Deliveries[i]; d.held {
			d.held, d.NextAttempt = false, next
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// record adds a delivery to the log; p.mu is held.
func (p *Platform) record(eventType string, body []byte, note string, first time.Time) string {
	envelope, _ := platform.ParseEnvelope(body, []string{"tenantSlug", "data.tenantSlug"})
	d := Delivery{
		ID: p.state.number("dlv"), EventType: eventType, Tenant: envelope.Tenant, Body: string(body),
		Status: DeliveryPending, Note: note, CreatedAt: time.Now().UTC(), NextAttempt: first, Attempts: []Attempt{},
	}
	if !utf8.Valid(body) {
		d.Raw = body
	}
	p.state.Deliveries = append(p.state.Deliveries, d)
	if len(p.state.Deliveries) > keptDeliveries {
		finished := func(d Delivery) bool { return d.Status != DeliveryPending }
		if i := slices.IndexFunc(p.state.Deliveries, finished); i >= 0 {
			p.state.Deliveries = slices.Delete(p.state.Deliveries, i, i+1)
		}
	}
	return d.ID
}

// freshEvent is the same event with an identifier of its own.
func freshEvent(body []byte) []byte {
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil || object == nil {
		return body
	}
	object["eventId"] = json.RawMessage(`"evt_` + rand.Text() + `"`)
	fresh, _ := json.Marshal(object) // its values were read from JSON
	return fresh
}
