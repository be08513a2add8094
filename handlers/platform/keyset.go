package platform

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"
)

const (
	keysFresh     = 5 * time.Minute // how long a withdrawn key may still be believed
	keysStale     = time.Hour       // how long keys outlive a platform that does not answer
	fetchTimeout  = 5 * time.Second
	fetchFailing  = 2 * fetchTimeout // how long after a failure nobody waits for the next try
	fetchEvery    = 5 * time.Second  // in the long run; and a few at once
	fetchBurst    = 3
	maxKeySet     = 256 << 10
	minRSA        = 2048
	maxKeysOfASet = 100
)

// KeySet is the platform's public keys (contract, section 5: RS256, JWKS). They
// are asked for again when they are old and when a token names a key that is
// not among them, but never more often than fetchEvery: whoever makes up key
// ids does not make this server hammer the platform.
type KeySet struct {
	url     string
	http    *http.Client
	limit   *rate.Limiter
	flights singleflight.Group

	mu      sync.Mutex
	keys    map[string]*rsa.PublicKey // by kid
	fetched time.Time
	failed  time.Time // zero when the last fetch went well
}

// NewKeySet returns the keys at url. Nothing is fetched before the first use.
func NewKeySet(url string) *KeySet {
	return &KeySet{
		url:   url,
		limit: rate.NewLimiter(rate.Every(fetchEvery), fetchBurst),
		http: &http.Client{
			Timeout:       fetchTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// errNoKey says that the platform publishes no usable key of that id.
var errNoKey = errors.New("the platform publishes no such key")

// Key returns the key of that id. It returns errNoKey, or ErrUnavailable where
// the platform did not say and what it once said is too old.
func (k *KeySet) Key(ctx context.Context, kid string) (*rsa.PublicKey, error) {
	key, age, failing := k.cached(kid)
	if key != nil && age < keysFresh {
		return key, nil
	}
	refreshed := k.refresh(ctx)
	if key != nil && age < keysStale && failing {
		return key, nil // else each request would wait for a platform that hangs
	}
	var err error
	select {
	case r := <-refreshed:
		err = r.Err
	case <-ctx.Done():
		err = ctx.Err()
	}
	key, age, _ = k.cached(kid)
	switch {
	case age > keysStale && err != nil:
		return nil, fmt.Errorf("%w: keys: %w", ErrUnavailable, err)
	case age > keysStale:
		return nil, fmt.Errorf("%w: keys: asked too often", ErrUnavailable)
	case key == nil:
		return nil, errNoKey
	}
	return key, nil
}

func (k *KeySet) cached(kid string) (key *rsa.PublicKey, age time.Duration, failing bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys[kid], time.Since(k.fetched), time.Since(k.failed) < fetchFailing
}

// refresh fetches the keys once for all who wait, where the limit allows, also
// when nobody does. A failure leaves the keys as they are.
func (k *KeySet) refresh(ctx context.Context) <-chan singleflight.Result {
	return k.flights.DoChan("", func() (any, error) {
		if !k.limit.Allow() {
			return nil, nil
		}
		keys, err := k.fetch(context.WithoutCancel(ctx))
		k.mu.Lock()
		defer k.mu.Unlock()
		if err != nil {
			k.failed = time.Now()
			return nil, err
		}
		k.keys, k.fetched, k.failed = keys, time.Now(), time.Time{}
		return nil, nil
	})
}

func (k *KeySet) fetch(ctx context.Context) (map[string]*rsa.PublicKey, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := k.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxKeySet+1))
	if err != nil {
		return nil, err
	}
	return parseKeySet(body)
}

// parseKeySet takes the RSA keys that are for signing and of a sound size, at
// least minRSA bits and at most what jose reads, 4096; others in the set are none
// of our business (RFC 7517, section 5).
func parseKeySet(body []byte) (map[string]*rsa.PublicKey, error) {
	var set struct{ Keys []json.RawMessage }
	if len(body) > maxKeySet || json.Unmarshal(body, &set) != nil || set.Keys == nil || len(set.Keys) > maxKeysOfASet {
		return nil, errors.New("no key set, or one too large")
	}
	keys := map[string]*rsa.PublicKey{}
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) != nil {
			continue
		}
		public, ok := key.Key.(*rsa.PublicKey)
		if ok && public.N.BitLen() >= minRSA &&
			(key.Use == "" || key.Use == "sig") && (key.Algorithm == "" || key.Algorithm == string(jose.RS256)) {
			keys[key.KeyID] = public
		}
	}
	return keys, nil
}
