package simulator

import (
	"crypto/rand"
	"encoding/json"
	"time"
)

// event is the body of an event. The contract has eventType and nothing else;
// every other field is the simulator's own.
type event struct {
	EventType  string     `json:"eventType"`
	EventID    string     `json:"eventId,omitempty"`
	OccurredAt time.Time  `json:"occurredAt,omitzero"`
	TenantSlug string     `json:"tenantSlug,omitempty"`
	Data       *eventData `json:"data,omitempty"`
}

type eventData struct {
	TenantName         string `json:"tenantName"`
	TenantStatus       string `json:"tenantStatus"`
	SubscriptionID     string `json:"subscriptionId,omitempty"`
	PlanType           string `json:"planType,omitempty"`
	SubscriptionStatus string `json:"subscriptionStatus"`
}

// bareBody is an event that has neither id nor time, as the contract shows none:
// the next one of its kind is the same bytes.
func bareBody(eventType string, t *Tenant) ([]byte, error) {
	return json.Marshal(event{EventType: eventType, TenantSlug: t.Slug})
}

// eventBody is an event about t, or about nobody when t is nil.
func eventBody(eventType string, t *Tenant) ([]byte, error) {
	e := event{EventType: eventType, EventID: "evt_" + rand.Text(), OccurredAt: time.Now().UTC().Truncate(time.Millisecond)}
	if t != nil {
		e.TenantSlug = t.Slug
		e.Data = &eventData{
			TenantName:         t.Name,
			TenantStatus:       t.Status,
			PlanType:           t.plan(),
			SubscriptionStatus: t.subscriptionStatus(),
		}
		if t.Subscription != nil {
			e.Data.SubscriptionID = t.Subscription.ID
		}
	}
	return json.Marshal(e)
}
