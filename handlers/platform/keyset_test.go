package platform

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"math/big"
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
	hangs   atomic.Value // chan struct{}
}

func publish(t *testing.T, kids ...string) *publisher {
	t.Helper()
	p := &publisher{}
	p.set(t, kids...)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.fetches.Add(1)
		if hangs, ok := p.hangs.Load().(chan struct{}); ok {
			<-hangs
		}
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

// hang has no answer come until it may.
func (p *publisher) hang(t *testing.T) (answers func()) {
	hangs := make(chan struct{})
	p.hangs.Store(hangs)
	answers = sync.OnceFunc(func() { close(hangs) })
	t.Cleanup(answers)
	return answers
}

// age makes the keys older than they are.
func (k *KeySet) age(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fetched = k.fetched.Add(-d)
}

// A key that the platform takes back, perhaps because it was stolen, is not
// believed for longer than five minutes.
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
	k.age(5 * time.Minute)
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
	k.age(55 * time.Minute)
	if _, err := k.Key(t.Context(), "k"); err != nil {
		t.Errorf("after 55 minutes: %v", err)
	}
	k.age(6 * time.Minute)
	if _, err := k.Key(t.Context(), "k"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("after an hour: %v", err)
	}
}

// A platform that hangs holds up the first request, not each one; a key that it
// has withdrawn meanwhile is forgotten as soon as it answers.
func TestKeySet_APlatformThatHangsIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	p := publish(t, "old")
	k := NewKeySet(p.URL)
	if _, err := k.Key(t.Context(), "old"); err != nil {
		t.Fatal(err)
	}
	p.set(t, "new")
	answers := p.hang(t)
	k.age(6 * time.Minute)
	k.http.Timeout = 50 * time.Millisecond
	if _, err := k.Key(t.Context(), "old"); err != nil {
		t.Errorf("the first: %v", err)
	}
	k.http.Timeout = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := k.Key(ctx, "old"); err != nil || ctx.Err() != nil {
		t.Errorf("the next: %v, it waited: %v", err, ctx.Err())
	}
	answers()
	<-k.refresh(t.Context()) // the one that is under way
	if _, err := k.Key(t.Context(), "old"); !errors.Is(err, errNoKey) {
		t.Errorf("withdrawn: %v", err)
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

// A key counts by its size and by what the platform says it is for.
func TestKeySet_OnlySoundKeysAreTaken(t *testing.T) {
	t.Parallel()
	bits := func(n uint) *rsa.PublicKey { // its size is looked at, nothing is verified with it
		return &rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), int(n)-1, 1), E: 65537}
	}
	for name, c := range map[string]struct {
		key  jose.JSONWebKey
		want bool
	}{
		"2048": {jose.JSONWebKey{Key: bits(2048)}, true}, "4096": {jose.JSONWebKey{Key: bits(4096)}, true},
		"2047": {jose.JSONWebKey{Key: bits(2047)}, false}, "1024": {jose.JSONWebKey{Key: bits(1024)}, false}, "4097": {jose.JSONWebKey{Key: bits(4097)}, false},
		"for RS256":      {jose.JSONWebKey{Key: bits(2048), Use: "sig", Algorithm: "RS256"}, true},
		"to encrypt":     {jose.JSONWebKey{Key: bits(2048), Use: "enc"}, false},
		"of another alg": {jose.JSONWebKey{Key: bits(2048), Algorithm: "RS512"}, false},
	} {
		c.key.KeyID = "k"
		body, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{c.key}})
		if err != nil {
			t.Fatal(err)
		}
		keys, err := parseKeySet(body)
		if got := keys["k"] != nil; got != c.want || err != nil {
			t.Errorf("%s: taken %v, %v", name, got, err)
		}
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
