package platform

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// publisher is a platform's key set that can be changed, and fail.
type publisher struct {
	*httptest.Server
	keys    atomic.Value // jose.JSONWebKeySet
	down    atomic.Bool
	fetches atomic.Int64
}

func publish(t *testing.T, kids ...string) *publisher {
	t.Helper()
	p := &publisher{}
	p.set(t, kids...)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.fetches.Add(1)
		if p.down.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_ = json.NewEncoder(w).Encode(p.keys.Load())
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *publisher) set(t *testing.T, kids ...string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, minRSA)
	if err != nil {
		t.Fatal(err)
	}
	var set jose.JSONWebKeySet
	for _, kid := range kids {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: kid})
	}
	p.keys.Store(set)
}

// age makes the keys older than they are.
func (k *KeySet) age(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fetched = k.fetched.Add(-d)
}

// A key that the platform takes back, perhaps because it was stolen, is not
// believed for longer than keysFresh.
func TestKeySet_AWithdrawnKeyIsForgotten(t *testing.T) {
	t.Parallel()
	p := publish(t, "old", "new")
	k := NewKeySet(p.URL)
	if _, err := k.Key(t.Context(), "old"); err != nil {
		t.Fatal(err)
	}
	p.set(t, "new")
	if _, err := k.Key(t.Context(), "old"); err != nil {
		t.Errorf("at once: %v", err)
	}
	k.age(keysFresh)
	if _, err := k.Key(t.Context(), "old"); !errors.Is(err, errNoKey) {
		t.Errorf("withdrawn: %v", err)
	}
	if _, err := k.Key(t.Context(), "new"); err != nil {
		t.Errorf("the other: %v", err)
	}
}

// A platform that is down for minutes locks nobody out; for hours, it does.
func TestKeySet_KeysOutliveAPlatformThatIsDownForAWhile(t *testing.T) {
	t.Parallel()
	p := publish(t, "k")
	k := NewKeySet(p.URL)
	if _, err := k.Key(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	p.down.Store(true)
	k.age(keysFresh)
	if _, err := k.Key(t.Context(), "k"); err != nil {
		t.Errorf("after minutes: %v", err)
	}
	k.age(keysStale)
	if _, err := k.Key(t.Context(), "k"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("after an hour: %v", err)
	}
}

func TestKeySet_ManyWhoWaitFetchTheKeysOnce(t *testing.T) {
	t.Parallel()
	p := publish(t, "k")
	k := NewKeySet(p.URL)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := k.Key(t.Context(), "k"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := p.fetches.Load(); n > fetchBurst {
		t.Errorf("fetched %d times", n)
	}
}

// The address of the keys does not lead elsewhere.
func TestKeySet_KeysAreNotFetchedThroughARedirect(t *testing.T) {
	t.Parallel()
	p := publish(t, "k")
	redirect := httptest.NewServer(http.RedirectHandler(p.URL, http.StatusFound))
	defer redirect.Close()
	if _, err := NewKeySet(redirect.URL).Key(t.Context(), "k"); !errors.Is(err, ErrUnavailable) || p.fetches.Load() != 0 {
		t.Errorf("%v, fetched %d times", err, p.fetches.Load())
	}
}
