package conformance

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

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
	if err != nil {
		panic(err) // never, of strings and maps
	}
	return text
}

// deliver posts a body with its right signature, as the platform does.
func (w *walk) deliver(ctx context.Context, body []byte) (answer, error) {
	return w.post(ctx, body, platform.Sign(w.secret, body))
}

// post sends a body with any signature; empty: without one.
func (w *walk) post(ctx context.Context, body []byte, signature string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.at(w.webhookPath), bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	if signature != "" {
		request.Header.Set(platform.SignatureHeader, signature)
	}
	return w.do(server, request)
}

// accept delivers a body and wants a 2xx in time (contract, section 6, rule 1).
func (w *walk) accept(ctx context.Context, body []byte) (answer, error) {
	a, err := w.deliver(ctx, body)
	return a, inTime(a, err)
}

// inTime wants a 2xx within the contract's limit.
func inTime(a answer, err error) error {
	switch {
	case err != nil:
		return err
	case !a.ok():
		return fmt.Errorf("%s, not 2xx", a)
	case a.took > answerLimit:
		return fmt.Errorf("%s, over %s", a, answerLimit)
	}
	return nil
}
