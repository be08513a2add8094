package platform

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// The API key and the code go to the platform's address and to no other,
// wherever that sends them.
func TestExchange_FollowsNoRedirect(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		var carried atomic.Int64
		elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			carried.Add(1)
			_, _ = w.Write([]byte(`{"userId":"u","email":"e","tenantSlug":"acme","planType":"p","subscriptionStatus":"Active"}`))
		}))
		front := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		_, err := NewClient(Settings{BaseURL: front.URL, APIKey: "key"}).Exchange(t.Context(), "code")
		if !errors.Is(err, ErrBadAnswer) || carried.Load() != 0 {
			t.Errorf("%d: %v, and %d requests elsewhere", status, err, carried.Load())
		}
		front.Close()
		elsewhere.Close()
	}
}
