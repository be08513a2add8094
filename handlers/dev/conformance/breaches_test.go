package conformance_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/platform"
)

type middleware = func(http.Handler) http.Handler

func variants() []variant {
	const created, cancelled = platform.SubscriptionCreated, platform.TenantCancelled
	return []variant{
		{name: "accepts any signature", front: webhook(signAnything), broken: []string{
			"signature-missing", "signature-wrong", "signature-of-another-body", "signature-upper-case", "signature-reserialised"}},
		{name: "accepts events without a signature", front: webhook(signUnsigned), broken: []string{"signature-missing"}},
		{name: "accepts upper case", front: webhook(lowerSignature), broken: []string{"signature-upper-case"}},
		{name: "verifies the JSON that it serialised again", front: webhook(verifyReserialised), broken: []string{"raw-body", "signature-reserialised"}},
		{name: "answers a page to a wrong signature", front: answer401With("<html><body>No.</body></html>"), broken: []string{"signature-text"}},
		{name: "helps with the signature", front: tellSignature, broken: []string{"signature-text"}},
		{name: "no login", front: slow(func(r *http.Request, _ []byte) bool { return r.URL.Path == "/login" }, time.Minute), broken: []string{"login-redirect"}},
		{name: "slow webhook", front: slow(isEvent(cancelled), tooLong), broken: []string{"webhook-cancelled"}},
		{name: "does not know what it does not know", front: answer(400, isUnknownType), broken: []string{"webhook-unknown-type"}},
		{name: "stumbles over broken JSON", front: answer(500, isBrokenJSON), broken: []string{"webhook-broken-json", "webhook-odd-json"}},
		{name: "acknowledges what it cannot read", front: answer(200, isEmpty), broken: []string{"webhook-empty"}},
		{name: "stumbles over duplicates", front: stumbleOverDuplicates(), broken: []string{"duplicate", "duplicates-at-once"}},
		{name: "no revocation", front: answer(200, isEvent(cancelled)), broken: []string{"cancel-ends-sessions"}},
		{name: "slow health", front: slow(func(r *http.Request, _ []byte) bool { return r.URL.Path == "/healthz" }, tooLong), broken: []string{"health"}},
		{name: "no appSlug", front: rewriteLogin(func(q url.Values) { q.Del("appSlug") }), broken: []string{"login-redirect"}},
		{name: "leads to another callback", front: rewriteLogin(func(q url.Values) { q.Set("redirect", "http://127.0.0.1:1/") }), broken: []string{"login-redirect"}},
		{name: "only takes who came by its login", front: onlyAskedFor, broken: []string{"platform-started"}},
		{name: "items of all tenants", front: oneNotebook(), broken: []string{"tenants-data"}},
		{name: "shows its key", front: header("X-Debug", handlertest.APIKey), broken: []string{"secrets-kept"}},
		{name: "sends the code twice", behind: twice, broken: []string{"exchange-once"}},
		{name: "sends the code again after an error", behind: insistent, broken: []string{"exchange-once"}},
		{name: "sends more than the code", behind: moreThanTheCode, broken: []string{"exchange-call"}},
		{name: "a session for unknown codes", behind: knowsAll, broken: []string{"code-unknown"}},
		{name: "a code counts twice", behind: remembers(), broken: []string{"code-one-time"}},
		{name: "lets the paused in", env: map[string]string{"ALLOWED_SUBSCRIPTION_STATUSES": "Active,Paused"}, broken: []string{"status-not-allowed"}},
	}
}

// read returns the body and leaves it there.
func read(r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // cut off: so it is behind the proxy
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// match says whether a request is meant.
type match func(r *http.Request, body []byte) bool

// answer answers the requests that match, and the server does not see them.
func answer(status int, when match) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if when(r, read(r)) {
				w.WriteHeader(status)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// tooLong is more than the contract's limit, and less than is waited.
const tooLong = 5100 * time.Millisecond

// slow passes the requests that match on later, if their client is still there.
func slow(when match, by time.Duration) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if when(r, read(r)) {
				select {
				case <-time.After(by):
				case <-r.Context().Done():
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

func header(name, value string) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(name, value)
			next.ServeHTTP(w, r)
		})
	}
}

// recorded is what the next handler answers.
func recorded(next http.Handler, r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	return rec
}

// pass hands an answer on.
func pass(w http.ResponseWriter, rec *httptest.ResponseRecorder) {
	for name, values := range rec.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(rec.Code)
	w.Write(rec.Body.Bytes())
}
