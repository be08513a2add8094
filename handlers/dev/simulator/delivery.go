package simulator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
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

// keptDeliveries bounds the log; the oldest finished ones go first.
const keptDeliveries = 500

// Delivery is one event on its way to the product (contract, section 6).
type Delivery struct {
	ID          string    `json:"id"`
	EventType   string    `json:"eventType"`
	Tenant      string    `json:"tenant"`
	Body        string    `json:"body"`
	Signature   string    `json:"signature"` // as last sent; empty when none was
	Status      string    `json:"status"`
	Note        string    `json:"note,omitempty"` // where it comes from, if not from an event
	CreatedAt   time.Time `json:"createdAt"`
	NextAttempt time.Time `json:"nextAttempt,omitzero"`
	Attempts    []Attempt `json:"attempts"`
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

// record is a delivery as it is kept.
type record struct {
	Delivery
	Raw  []byte `json:"raw,omitempty"` // the body, when JSON cannot carry it
	busy bool   // an attempt is under way
}

func (r *record) restore() {
	if r.Raw != nil {
		r.Body = string(r.Raw)
	}
	if r.Status == DeliveryPending && r.NextAttempt.IsZero() {
		r.NextAttempt = time.Now() // the last run ended in the middle of it
	}
}

func (r *record) copy() Delivery {
	d := r.Delivery
	d.Attempts = slices.Clone(r.Attempts)
	return d
}

// Send signs body as it is and sends it as an event of any type; a nil body is
// a well-formed event about no tenant. See Subscribe for when it returns.
func (p *Platform) Send(ctx context.Context, eventType string, body []byte) (Delivery, error) {
	if body == nil {
		var err error
		if body, err = eventBody(eventType, nil); err != nil {
			return Delivery{}, fmt.Errorf("send %s: %w", eventType, err)
		}
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

func (p *Platform) deliver(ctx context.Context, eventType string, body []byte, note string) (Delivery, error) {
	id, rounds := p.accept(eventType, body, note)
	for _, round := range rounds {
		p.attemptAll(context.WithoutCancel(ctx), round)
	}
	return p.Delivery(id)
}

// accept records a delivery, with the further ones that the faults make of it,
// and returns what is to be sent right now, round by round.
func (p *Platform) accept(eventType string, body []byte, note string) (id string, rounds [][]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.touch()
	var first time.Time
	if p.faults.DeliveryDelay > 0 {
		first = time.Now().Add(p.faults.DeliveryDelay)
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
	held := p.held
	if p.held = nil; len(held) > 0 {
		return [][]string{round, held}
	}
	if !p.faults.DeliveryReorder {
		return [][]string{round}
	}
	p.held = round
	for _, id := range round {
		p.state.delivery(id).NextAttempt = time.Now().Add(reorderLimit)
	}
	return nil
}

// record adds a delivery to the log; p.mu is held.
func (p *Platform) record(eventType string, body []byte, note string, first time.Time) string {
	envelope, _ := platform.ParseEnvelope(body, []string{"tenantSlug", "data.tenantSlug"})
	r := &record{Delivery: Delivery{
		ID: p.state.number("dlv"), EventType: eventType, Tenant: envelope.Tenant, Body: string(body),
		Status: DeliveryPending, Note: note, CreatedAt: time.Now().UTC(), NextAttempt: first, Attempts: []Attempt{},
	}}
	if !utf8.Valid(body) {
		r.Raw = body
	}
	p.state.Deliveries = append(p.state.Deliveries, r)
	if excess := len(p.state.Deliveries) - keptDeliveries; excess > 0 {
		p.state.Deliveries = slices.DeleteFunc(p.state.Deliveries, func(r *record) bool {
			if excess == 0 || r.Status == DeliveryPending {
				return false
			}
			excess--
			return true
		})
	}
	return r.ID
}

// freshEvent is the same event with an identifier of its own.
func freshEvent(body []byte) []byte {
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil || object == nil {
		return body
	}
	object["eventId"] = json.RawMessage(`"evt_` + rand.Text() + `"`)
	fresh, err := json.Marshal(object)
	if err != nil {
		return body
	}
	return fresh
}

func (s *state) delivery(id string) *record {
	i := slices.IndexFunc(s.Deliveries, func(r *record) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return s.Deliveries[i]
}
