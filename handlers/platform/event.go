package platform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Event types that the platform is known to send (contract, section 6).
const (
	SubscriptionCreated = "subscription.created"
	TenantCancelled     = "tenant.cancelled"
)

// ErrBadEvent says that a body is not a JSON object with a usable eventType.
var ErrBadEvent = errors.New("not a JSON object with a non-empty string eventType")

// maxEventType is far above any real name and keeps log lines readable.
const maxEventType = 200

// Envelope is what this side reads of an event's body before a handler sees it.
type Envelope struct {
	Type string
	// Tenant is the tenant slug as the body spells it, not yet validated, and
	// no possible one where it is no JSON string; empty when no field of the
	// lookup list is there.
	Tenant string
}

// ParseEnvelope reads the event's type and tenant. The contract names only
// eventType; where the tenant's slug stands is not shown, so tenantFields lists
// dotted paths to look at, and the first that is there and not null is taken.
// Keys are matched exactly; of a repeated key the last counts, as in JavaScript.
// It returns ErrBadEvent for anything that is no event.
func ParseEnvelope(body []byte, tenantFields []string) (Envelope, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil || object == nil {
		return Envelope{}, ErrBadEvent
	}
	var eventType string
	if json.Unmarshal(object["eventType"], &eventType) != nil || !usableType(eventType) {
		return Envelope{}, ErrBadEvent
	}
	return Envelope{Type: eventType, Tenant: findTenant(object, tenantFields)}, nil
}

func usableType(s string) bool {
	return s != "" && len(s) <= maxEventType && utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}

func findTenant(object map[string]json.RawMessage, fields []string) string {
	for _, field := range fields {
		if raw := lookup(object, strings.Split(field, ".")); raw != nil {
			return slugText(raw)
		}
	}
	return ""
}

// lookup follows path through nested objects; nil when it leads nowhere.
func lookup(object map[string]json.RawMessage, path []string) json.RawMessage {
	raw := object[path[0]]
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	if len(path) == 1 {
		return raw
	}
	var inner map[string]json.RawMessage
	if json.Unmarshal(raw, &inner) != nil {
		return nil
	}
	return lookup(inner, path[1:])
}

// slugText is a JSON string's value. Anything else becomes what no slug can be,
// and is refused by name instead of being taken for absent: 7 is not "7".
func slugText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return fmt.Sprintf("not a JSON string: %.64s", raw)
}

// text is a JSON string's value, or the raw JSON of anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return fmt.Sprintf("%.64s", raw)
}
