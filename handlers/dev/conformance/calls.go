package conformance

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// call is a request to the platform's API.
type call struct {
	method, path, contentType string
	key                       string // "right", "wrong" or "missing"
	code                      string
	fields                    []string // of the body; nil when it is no JSON object
}

const exchangePath = "/api/v1/auth/sso/user-info"

// noting is the platform with a note of each call of the product's server, as
// it came.
func (w *walk) noting(platform http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/api/") || strings.HasSuffix(r.URL.Path, "/user-info") {
			w.note(r)
		}
		platform.ServeHTTP(rw, r)
	})
}

// note writes the call down and leaves the body as it was.
func (w *walk) note(r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	r.Body = io.NopCloser(bytes.NewReader(body))
	c := call{method: r.Method, path: r.URL.Path, contentType: r.Header.Get("Content-Type"), key: "right"}
	switch key := r.Header.Get("X-Api-Key"); {
	case key == "":
		c.key = "missing"
	case subtle.ConstantTimeCompare([]byte(key), []byte(w.apiKey)) == 0:
		c.key = "wrong"
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) == nil {
		c.fields = append([]string{}, slices.Sorted(maps.Keys(object))...)
		_ = json.Unmarshal(object["code"], &c.code) // what is no string stays empty
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
}

// callsSince returns the calls after the first n.
func (w *walk) callsSince(n int) []call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls[n:])
}

// awaitCalls waits up to two seconds for so many calls, and returns how many
// came: a product that serves one sign-in after the other is looked at during the
// first.
func (w *walk) awaitCalls(ctx context.Context, calls int) int {
	for deadline := time.Now().Add(2 * time.Second); len(w.callsSince(0)) < calls; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) || ctx.Err() != nil {
			break
		}
	}
	return len(w.callsSince(0))
}
