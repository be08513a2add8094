package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"example.com/subproduct/handlers/platform"
)

func checkCreated(ctx context.Context, w *walk) (string, error) {
	a, err := w.accept(ctx, w.event(created, w.newTenant().Tenant))
	return a.String(), err
}

func checkCancelled(ctx context.Context, w *walk) (string, error) {
	slug := w.newTenant().Tenant
	if _, err := w.accept(ctx, w.event(created, slug)); err != nil {
		return "", fmt.Errorf("subscription.created: %w", err)
	}
	a, err := w.accept(ctx, w.event(cancelled, slug))
	if err != nil {
		return "", err
	}
	if _, err := w.accept(ctx, w.event(cancelled, w.newTenant().Tenant)); err != nil {
		return "", fmt.Errorf("of an unknown tenant: %w", err)
	}
	return a.String(), nil
}

func checkUnknownType(ctx context.Context, w *walk) (string, error) {
	a, err := w.accept(ctx, w.event("invoice.conformance-"+w.run, w.anyUser().Tenant))
	return a.String(), err
}

func checkLarge(ctx context.Context, w *walk) (string, error) {
	object := w.fields(created, w.anyUser().Tenant)
	object["padding"] = strings.Repeat("x", 900<<10)
	a, err := w.deliver(ctx, encode(object))
	if err == nil && a.status == http.StatusRequestEntityTooLarge && a.took <= answerLimit {
		return a.String(), w.staysHealthy(ctx)
	}
	if err := inTime(a, err); err != nil {
		return "", err
	}
	return a.String(), w.staysHealthy(ctx)
}

func checkBrokenJSON(ctx context.Context, w *walk) (string, error) {
	return w.declines(ctx, []byte(`{"eventType":"subscription.created","tenantSlug":`))
}

func checkEmpty(ctx context.Context, w *walk) (string, error) { return w.declines(ctx, nil) }

// declines delivers what is no event: a 2xx would acknowledge what cannot have
// been read, a 5xx is a fault of the receiver.
func (w *walk) declines(ctx context.Context, body []byte) (string, error) {
	a, err := w.deliver(ctx, body)
	switch {
	case err != nil:
		return "", err
	case a.status/100 != 4:
		return "", fmt.Errorf("answered %s, not 4xx", a)
	}
	return a.String(), w.staysHealthy(ctx)
}

func checkOddJSON(ctx context.Context, w *walk) (string, error) {
	bodies := []unusualBody{
		{"a byte order mark", append([]byte("\ufeff"), w.event(created, w.anyUser().Tenant)...)},
		{"an array", []byte(`[]`)}, {"null", []byte(`null`)}, {"a string", []byte(`"subscription.created"`)}, {"a number", []byte(`7`)},
		{"no type", []byte(`{}`)}, {"an empty type", []byte(`{"eventType":""}`)}, {"a number as type", []byte(`{"eventType":7}`)},
		{"an object as type", []byte(`{"eventType":{"a":[1]}}`)}, {"null as type", []byte(`{"eventType":null}`)},
		{"no tenant", []byte(`{"eventType":"conformance.nothing"}`)},
		{"bytes that are no UTF-8", []byte("{\"eventType\":\"\xff\xfe\"}")},
		{"50,000 brackets", bytes.Repeat([]byte("["), 50_000)},
	}
	var wrong []string
	for _, b := range bodies {
		a, err := w.deliver(ctx, b.body)
		if err == nil && (a.status >= 500 || a.took > answerLimit) {
			err = errors.New(a.String())
		}
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", b.name, err))
		}
	}
	if len(wrong) > 0 {
		return "", errors.New(strings.Join(wrong, "; "))
	}
	return fmt.Sprintf("%d bodies, no 5xx", len(bodies)), w.staysHealthy(ctx)
}

// checkCutOff sends half of a cancellation under the signature of all of it.
func checkCutOff(ctx context.Context, w *walk) (string, error) {
	m, err := w.member(ctx, "first")
	if err != nil {
		return "", err
	}
	body := w.event(cancelled, m.user.Tenant)
	half := io.MultiReader(bytes.NewReader(body[:len(body)/2]), cutOff{})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.at(w.webhookPath), half)
	if err != nil {
		return "", err
	}
	request.ContentLength = int64(len(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(platform.SignatureHeader, platform.Sign(w.secret, body))
	if a, err := w.do(server, request); err == nil && a.ok() {
		return "", fmt.Errorf("half of an event was answered %s", a)
	}
	if err := w.stays(ctx, m); err != nil {
		return "", err
	}
	return "not processed", w.staysHealthy(ctx)
}

// cutOff is the end of a body whose sender went away.
type cutOff struct{}

func (cutOff) Read([]byte) (int, error) { return 0, errors.New("cut off") }
