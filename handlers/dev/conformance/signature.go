package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"example.com/subproduct/handlers/platform"
)

// Signatures that must not be accepted for body.

func noSignature(*walk, []byte) string { return "" }

func otherSecret(w *walk, body []byte) string { return platform.Sign(w.secret+"x", body) }

func otherBody(w *walk, _ []byte) string {
	return platform.Sign(w.secret, w.event(created, "somebody"))
}

func upperCase(w *walk, body []byte) string { return strings.ToUpper(platform.Sign(w.secret, body)) }

func reserialised(w *walk, body []byte) string {
	var compact bytes.Buffer
	_ = json.Compact(&compact, body) // it is JSON
	return platform.Sign(w.secret, compact.Bytes())
}

// forged sends the cancellation of a tenant with a signature that is not its
// own. Whether it was processed shows in the tenant's session.
func forged(signature func(*walk, []byte) string) func(context.Context, *walk) (string, error) {
	return func(ctx context.Context, w *walk) (string, error) {
		m, err := w.member(ctx, "first")
		if err != nil {
			return "", err
		}
		body := spaced(w.event(cancelled, m.user.Tenant))
		a, err := w.post(ctx, body, signature(w, body))
		if err != nil {
			return "", err
		}
		if err := w.stays(ctx, m); err != nil {
			return "", fmt.Errorf("answered %s, and processed: %w", a, err)
		}
		if a.status != http.StatusUnauthorized {
			return "", fmt.Errorf("answered %s, not 401", a)
		}
		return "401, not processed", nil
	}
}

// spaced is the same JSON over several lines.
func spaced(body []byte) []byte {
	var out bytes.Buffer
	_ = json.Indent(&out, body, "", "\t") // it is JSON
	return append(out.Bytes(), '\n')
}

const shortText = 512

func checkRefusalText(ctx context.Context, w *walk) (string, error) {
	body := w.event(created, w.anyUser().Tenant)
	a, err := w.post(ctx, body, strings.Repeat("0", 64))
	text := bytes.TrimSpace(a.body)
	switch {
	case err != nil:
		return "", err
	case a.status != http.StatusUnauthorized:
		return "", skipped{fmt.Sprintf("a wrong signature was answered %d, so there is no 401 to look at", a.status)}
	case len(text) == 0 || len(text) > shortText:
		return "", fmt.Errorf("%d bytes of text", len(text))
	case text[0] == '<' || json.Valid(text) && text[0] == '{':
		return "", fmt.Errorf("no plain text, but %s", a.header.Get("Content-Type"))
	case bytes.Contains(text, []byte(platform.Sign(w.secret, body))):
		return "", errors.New("it says what the right signature is")
	}
	return fmt.Sprintf("%d bytes of text", len(text)), nil
}

// checkRawBody signs bodies that a serialiser would write in other bytes.
func checkRawBody(ctx context.Context, w *walk) (string, error) {
	slug := w.anyUser().Tenant
	bodies := w.unusual(slug)
	var wrong []string
	for _, b := range bodies {
		if _, err := w.accept(ctx, b.body); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", b.name, err))
		}
	}
	if len(wrong) > 0 {
		return "", errors.New(strings.Join(wrong, "; "))
	}
	return fmt.Sprintf("%d unusual bodies, all accepted", len(bodies)), nil
}

type unusualBody struct {
	name string
	body []byte
}

// unusual are events about a tenant in unusual but valid JSON.
func (w *walk) unusual(slug string) []unusualBody {
	with := func(first string) []byte {
		return bytes.Replace(w.event(created, slug), []byte("{"), []byte("{"+first+","), 1)
	}
	escaped := bytes.Replace(w.event(created, slug), []byte(created), []byte(`subscription\u002ecreated`), 1)
	last := w.fields(created, slug)
	delete(last, "eventType")
	typeLast := append(bytes.TrimSuffix(encode(last), []byte("}")), []byte(`, "eventType" : "subscription.created" }`)...)
	return []unusualBody{
		{"spaces", spaced(w.event(created, slug))},
		{"last line end", append(w.event(created, slug), '\r', '\n')},
		{"Unicode", with(`"name":"Zoë ✓ 漢字 😀"`)},
		{"escapes", with(`"note":"a\/b \u00e9 \ud83d\ude00 \u003c"`)},
		{"escaped type", escaped},
		{"numbers", with(`"price":1.10,"big":12345678901234567890,"e":1E2`)},
		{"key order", typeLast},
	}
}
