package conformance

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/platform"
)

const (
	created   = platform.SubscriptionCreated
	cancelled = platform.TenantCancelled
)

// fields is an event about a tenant that no other event equals. The contract
// has eventType alone; the rest is what a product may hope for.
func (w *walk) fields(eventType, slug string) map[string]any {
	status := "Active"
	if eventType == cancelled {
		status = "Cancelled"
	}
	object := map[string]any{
		"eventType": eventType, "eventId": "evt_" + rand.Text(), "occurredAt": time.Now().UTC().Format(time.RFC3339Nano),
		"data": map[string]any{"planType": "Pro", "subscriptionStatus": status, "tenantStatus": status},
	}
	setField(object, strings.Split(w.tenantField, "."), slug)
	return object
}

// setField puts value where a dotted path leads.
func setField(object map[string]any, path []string, value string) {
	for len(path) > 1 {
		inner, ok := object[path[0]].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[path[0]] = inner
		}
		object, path = inner, path[1:]
	}
	object[path[0]] = value
}

func (w *walk) event(eventType, slug string) []byte { return encode(w.fields(eventType, slug)) }

func encode(object map[string]any) []byte {
	text, err := json.Marshal(object)
	must(err)
	return text
}

// deliver posts a body with its right signature, as the platform does.
func (c *check) deliver(body []byte) answer { return c.post(body, platform.Sign(c.secret, body)) }

// post sends a body with any signature; empty: without one.
func (c *check) post(body []byte, signature string) answer {
	return c.do(simulator.NewClient(), c.delivery(bytes.NewReader(body), signature))
}

func (c *check) delivery(body *bytes.Reader, signature string) *http.Request {
	request := c.request(http.MethodPost, c.at(c.webhookPath), body, "Content-Type", "application/json")
	if signature != "" {
		request.Header.Set(platform.SignatureHeader, signature)
	}
	return request
}

// accept delivers a body and wants a 2xx in time (contract, section 6, rule 1).
func (c *check) accept(body []byte) answer { return c.deliver(body).inTime() }
