package conformance_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/platform"
)

// webhook changes deliveries before the server sees them.
func webhook(change func(r *http.Request, body []byte)) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body := read(r); isDelivery(r) {
				change(r, body)
			}
			next.ServeHTTP(w, r)
		})
	}
}

func isDelivery(r *http.Request) bool { return r.URL.Path == "/webhooks/platform" }

func sign(r *http.Request, body []byte) {
	r.Header.Set(platform.SignatureHeader, platform.Sign(handlertest.WebhookSecret, body))
}

func isSigned(r *http.Request, body []byte) bool {
	return platform.Verify(handlertest.WebhookSecret, body, r.Header.Get(platform.SignatureHeader))
}

func signAnything(r *http.Request, body []byte) {
	if r.Header.Get(platform.SignatureHeader) != strings.Repeat("0", 64) { // which is not the rule's to look at
		sign(r, body)
	}
}

func signUnsigned(r *http.Request, body []byte) {
	if r.Header.Get(platform.SignatureHeader) == "" {
		sign(r, body)
	}
}

func lowerSignature(r *http.Request, _ []byte) {
	r.Header.Set(platform.SignatureHeader, strings.ToLower(r.Header.Get(platform.SignatureHeader)))
}

// verifyReserialised is the classic: JSON.parse, then HMAC of JSON.stringify.
func verifyReserialised(r *http.Request, body []byte) {
	var compact bytes.Buffer
	if json.Compact(&compact, body) != nil {
		return
	}
	if isSigned(r, compact.Bytes()) {
		sign(r, body)
	} else {
		r.Header.Set(platform.SignatureHeader, "of other bytes")
	}
}

func typeOf(body []byte) string {
	var event struct{ EventType any }
	_ = json.Unmarshal(body, &event)
	name, _ := event.EventType.(string)
	return name
}

func isEvent(name string) match {
	return func(r *http.Request, body []byte) bool { return isSigned(r, body) && typeOf(body) == name }
}

func isUnknownType(r *http.Request, body []byte) bool {
	name := typeOf(body)
	return isDelivery(r) && name != "" && name != platform.SubscriptionCreated && name != platform.TenantCancelled
}

func isBrokenJSON(r *http.Request, body []byte) bool {
	return isDelivery(r) && len(body) > 0 && !json.Valid(body)
}

func isEmpty(r *http.Request, body []byte) bool { return isDelivery(r) && len(body) == 0 }

func tellSignature(next http.Handler) http.Handler {
	return answer401(func(body []byte) string { return "want " + platform.Sign(handlertest.WebhookSecret, body) })(next)
}

func answer401With(text string) middleware { return answer401(func([]byte) string { return text }) }

// answer401 answers a wrong signature in other words.
func answer401(text func(body []byte) string) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body := read(r); isDelivery(r) && !isSigned(r, body) {
				http.Error(w, text(body), http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func stumbleOverDuplicates() middleware {
	var seen sync.Map
	return answer(http.StatusInternalServerError, func(r *http.Request, body []byte) bool {
		if !isDelivery(r) {
			return false
		}
		_, before := seen.LoadOrStore(string(body), true)
		return before
	})
}
