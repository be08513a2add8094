package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"example.com/subproduct/handlers/platform"
)

// signature is one that is sent with a body.
type signature func(c *check, body []byte) string

// Signatures that must not be accepted.

func noSignature(*check, []byte) string { return "" }

func otherSecret(c *check, body []byte) string { return platform.Sign(c.secret+"x", body) }

func otherBody(c *check, _ []byte) string {
	return platform.Sign(c.secret, c.event(created, "somebody"))
}

func upperCase(c *check, body []byte) string { return strings.ToUpper(platform.Sign(c.secret, body)) }

func reserialised(c *check, body []byte) string {
	var compact bytes.Buffer
	must(json.Compact(&compact, body))
	return platform.Sign(c.secret, compact.Bytes())
}

// forged sends the cancellation of a tenant with a signature that is not its
// own. Whether it was processed shows in the tenant's session.
func forged(sign signature) func(*check) string {
	return func(c *check) string {
		m := c.member("first")
		body := spaced(c.event(cancelled, m.user.Tenant))
		a := c.post(body, sign(c, body))
		during(fmt.Sprintf("answered %s, and processed", a), func() { c.stays(m) })
		if a.status != http.StatusUnauthorized {
			fail("answered %s, not 401", a)
		}
		return "401, not processed"
	}
}

// spaced is the same JSON over several lines.
func spaced(body []byte) []byte {
	var out bytes.Buffer
	must(json.Indent(&out, body, "", "\t"))
	return append(out.Bytes(), '\n')
}

const shortText = 512

func checkRefusalText(c *check) string {
	body := c.event(created, c.anyUser().Tenant)
	a := c.post(body, strings.Repeat("0", 64))
	text := bytes.TrimSpace(a.body)
	switch {
	case a.status != http.StatusUnauthorized:
		skip("a wrong signature was answered %d, so there is no 401 to look at", a.status)
	case len(text) == 0 || len(text) > shortText:
		fail("%d bytes of text", len(text))
	case text[0] == '<' || json.Valid(text) && text[0] == '{':
		fail("no plain text, but %s", a.header.Get("Content-Type"))
	case bytes.Contains(text, []byte(platform.Sign(c.secret, body))):
		fail("it says what the right signature is")
	}
	return fmt.Sprintf("%d bytes of text", len(text))
}

// checkRawBody signs bodies that a serialiser would write in other bytes.
func checkRawBody(c *check) string {
	bodies := c.unusual(c.anyUser().Tenant)
	c.each(bodies, func(body []byte) { c.accept(body) })
	return fmt.Sprintf("%d unusual bodies, all accepted", len(bodies))
}

// unusual are events about a tenant in unusual but valid JSON.
func (w *walk) unusual(slug string) []namedBody {
	with := func(first string) []byte {
		return bytes.Replace(w.event(created, slug), []byte("{"), []byte("{"+first+","), 1)
	}
	escaped := bytes.Replace(w.event(created, slug), []byte(created), []byte(`subscription\u002ecreated`), 1)
	last := w.fields(created, slug)
	delete(last, "eventType")
	typeLast := append(bytes.TrimSuffix(encode(last), []byte("}")), []byte(`, "eventType" : "subscription.created" }`)...)
	return []namedBody{
		{"spaces", spaced(w.event(created, slug))},
		{"last line end", append(w.event(created, slug), '\r', '\n')},
		{"Unicode", with(`"name":"Zoë ✓ 漢字 😀"`)},
		{"escapes", with(`"note":"a\/b \u00e9 \ud83d\ude00 \u003c"`)},
		{"escaped type", escaped},
		{"numbers", with(`"price":1.10,"big":12345678901234567890,"e":1E2`)},
		{"key order", typeLast},
	}
}
