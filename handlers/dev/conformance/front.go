package conformance

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// front is a handler in front of the simulator: it notes each call of the
// product's server as it came.
type front struct {
	next   http.Handler
	apiKey string

	mu    sync.Mutex
	calls []call
}

// call is a request to the platform's API.
type call struct {
	method, path, contentType string
	key                       string // "right", "wrong" or "missing"
	code                      string
	fields                    []string // of the body; nil when it is no JSON object
}

const exchangePath = "/api/v1/auth/sso/user-info"

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Path, "/api/") || strings.HasSuffix(r.URL.Path, "/user-info") {
		f.note(r)
	}
	f.next.ServeHTTP(w, r)
}

// note writes the call down and leaves the body as it was.
func (f *front) note(r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	r.Body = io.NopCloser(bytes.NewReader(body))
	c := call{method: r.Method, path: r.URL.Path, contentType: r.Header.Get("Content-Type"), key: "right"}
	switch key := r.Header.Get("X-Api-Key"); {
	case key == "":
		c.key = "missing"
	case subtle.ConstantTimeCompare([]byte(key), []byte(f.apiKey)) == 0:
		c.key = "wrong"
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) == nil {
		c.fields = append([]string{}, slices.Sorted(maps.Keys(object))...)
		_ = json.Unmarshal(object["code"], &c.code) // what is no string stays empty
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, c)
}

// all returns the calls that have come.
func (f *front) all() []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}
