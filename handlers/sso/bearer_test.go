package sso_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
)

// tokenSite is a site that takes the tokens of its simulator.
func tokenSite(t *testing.T) *handlertest.Site {
	t.Helper()
	front := httptest.NewServer(nil)
	t.Cleanup(front.Close)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"PLATFORM_JWKS_URL": front.URL + "/keys"}})
	keys := site.Platform.Handler()
	front.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = "/.well-known/jwks.json"
		keys.ServeHTTP(w, r)
	})
	return site
}

func with(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

func token(t *testing.T, site *handlertest.Site, userID, flaw string) string {
	t.Helper()
	token, err := site.Platform.Token("https://platform.example", userID, flaw)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestBearer_OpensTheAPI(t *testing.T) {
	t.Parallel()
	site := tokenSite(t)
	site.Subscribe(t, "acme")
	b := site.Browser(t)
	good := token(t, site, "u-acme", "")
	var me struct{ UserID, TenantSlug, Email, PlanType, SubscriptionStatus string }
	b.Do(http.MethodGet, "/api/me", nil, with(good)).JSON(t, &me)
	if me.UserID != "u-acme" || me.TenantSlug != "acme" || me.Email != "user@acme.example" || me.PlanType != "Pro" || me.SubscriptionStatus != "Active" {
		t.Errorf("/api/me is %+v", me)
	}
	h := with(good)
	h.Set("Content-Type", "application/json")
	if answer := b.Do(http.MethodPost, "/api/items", strings.NewReader(`{"label":"by token"}`), h); answer.Status != http.StatusCreated || answer.Header.Get("Set-Cookie") != "" {
		t.Errorf("a note: %d, cookie %q", answer.Status, answer.Header.Get("Set-Cookie"))
	}
	if answer := b.Do(http.MethodGet, "/items", nil, with(good)); answer.Status != http.StatusSeeOther {
		t.Errorf("a page took a token: %d", answer.Status)
	}
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM public.sessions`); n != 0 {
		t.Errorf("tokens made %d sessions", n)
	}
}

func TestBearer_IsOffByDefault(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	answer := site.Browser(t).Do(http.MethodGet, "/api/me", nil, with(token(t, site, "u-acme", "")))
	if answer.Status != http.StatusUnauthorized || answer.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("%d %q", answer.Status, answer.Header.Get("WWW-Authenticate"))
	}
}

// Who asks the API for something without saying who they are is told how to;
// a page sends them to the sign-in instead.
func TestBearer_TheAPISaysThatItTakesTokens(t *testing.T) {
	t.Parallel()
	site := tokenSite(t)
	for _, c := range []struct {
		b         *handlertest.Browser
		path      string
		status    int
		challenge string
	}{
		{site.Browser(t), "/api/me", http.StatusUnauthorized, "Bearer"},
		{site.Browser(t), "/items", http.StatusSeeOther, ""},
		{site.SignIn(t, "acme"), "/api/me", http.StatusOK, ""},
	} {
		answer := c.b.Get(c.path)
		if got := answer.Header.Get("WWW-Authenticate"); answer.Status != c.status || got != c.challenge {
			t.Errorf("%s: %d, WWW-Authenticate %q; want %d, %q", c.path, answer.Status, got, c.status, c.challenge)
		}
	}
}

// refused checks that a token is refused as RFC 6750 wants it, and that no
// cookie makes up for it.
func refused(t *testing.T, name string, b *handlertest.Browser, h http.Header) {
	t.Helper()
	answer := b.Do(http.MethodGet, "/api/me", nil, h)
	if answer.Status != http.StatusUnauthorized || answer.Header.Get("WWW-Authenticate") != `Bearer error="invalid_token"` ||
		answer.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s: %d %v %s; want a 401 problem", name, answer.Status, answer.Header, answer.Body)
	}
}

func TestBearer_TokensWithAFlaw(t *testing.T) {
	t.Parallel()
	site := tokenSite(t)
	b := site.SignIn(t, "acme") // with a good cookie: it must not matter
	for _, flaw := range []string{
		simulator.TokenExpired, simulator.TokenNotYet, simulator.TokenWrongAudience, simulator.TokenWrongKey,
		simulator.TokenUnknownKey, simulator.TokenAltered, simulator.TokenAlgNone, simulator.TokenHS256,
	} {
		refused(t, flaw, b, with(token(t, site, "u-acme", flaw)))
	}
	good := token(t, site, "u-acme", "")
	parts := strings.Split(good, ".")
	for name, bad := range map[string]string{
		"empty": "", "no dots": "abc", "unsigned": parts[0] + "." + parts[1] + ".", "two parts": parts[0] + "." + parts[1],
		"four parts": good + ".x", "five parts": good + ".x.y", "a space": good[:20] + " " + good[20:], "signature of another": parts[0] + "." + parts[1] + "." + parts[0],
		"trailing bits": good + "A", "standard base64": parts[0] + "=." + parts[1] + "." + parts[2], "oversized": good + strings.Repeat("A", 100<<10),
		"JSON": `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
	} {
		refused(t, name, b, with(bad))
	}
	refused(t, "two headers", b, http.Header{"Authorization": {"Bearer " + good, "Bearer " + good}})
	refused(t, "two in one", b, http.Header{"Authorization": {"Bearer " + good + " " + good}})
	refused(t, "a tab and no token", b, http.Header{"Authorization": {"bearer\t"}})
	refused(t, "a tab and a bad token", b, http.Header{"Authorization": {"BEARER\t" + good[1:]}})
	refused(t, "beside another scheme", b, http.Header{"Authorization": {"Basic dTpw", "Bearer " + good}})
}

// minter signs what it likes: a platform with a key of the test.
type minter struct {
	*httptest.Server
	key     *rsa.PrivateKey
	fetches atomic.Int64
	body    atomic.Value // string: what it publishes
}

func newMinter(t *testing.T) *minter {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	m := &minter{key: key}
	set, _ := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k1", Algorithm: "RS256", Use: "sig"}}})
	m.body.Store(string(set))
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		m.fetches.Add(1)
		_, _ = w.Write([]byte(m.body.Load().(string)))
	}))
	t.Cleanup(m.Close)
	return m
}

// sign makes a token of the claims; header fields are added as they are.
func (m *minter) sign(t *testing.T, claims map[string]any, header map[jose.HeaderKey]any) string {
	t.Helper()
	options := &jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{"kid": "k1"}}
	for k, v := range header {
		options.ExtraHeaders[k] = v
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: m.key}, options)
	if err != nil {
		t.Fatal(err)
	}
	payload, _ := json.Marshal(claims)
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return compact
}

// claims are good ones, with changes; nil takes one away.
func claims(changes map[string]any) map[string]any {
	c := map[string]any{
		"userId": "u-acme", "email": "user@acme.example", "tenantSlug": "acme", "planType": "Pro", "subscriptionStatus": "Active", "tenantStatus": "Active",
		"exp": time.Now().Add(time.Minute).Unix(), "iat": time.Now().Unix(), "aud": fixture.Slug,
	}
	for k, v := range changes {
		if c[k] = v; v == nil {
			delete(c, k)
		}
	}
	return c
}

func TestBearer_Claims(t *testing.T) {
	t.Parallel()
	m := newMinter(t)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"PLATFORM_JWKS_URL": m.URL}})
	site.Subscribe(t, "acme")
	site.Subscribe(t, "gone")
	if _, err := site.Platform.Cancel(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	b := site.Browser(t)
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		changes map[string]any
		want    int
	}{
		"good":                  {nil, 200},
		"no aud":                {map[string]any{"aud": nil}, 200},
		"aud among others":      {map[string]any{"aud": []string{"x", fixture.Slug}}, 200},
		"no iat":                {map[string]any{"iat": nil}, 200},
		"clocks a bit apart":    {map[string]any{"iat": now + 10, "nbf": now + 10}, 200},
		"no exp":                {map[string]any{"exp": nil}, 401},
		"exp now":               {map[string]any{"exp": now}, 401},
		"exp of text":           {map[string]any{"exp": "tomorrow"}, 401},
		"almost 8 KiB":          {map[string]any{"pad": strings.Repeat("x", 5<<10)}, 200},
		"over 8 KiB":            {map[string]any{"pad": strings.Repeat("x", 6<<10)}, 401},
		"exp beyond dates":      {map[string]any{"exp": 1e300}, 401},
		"exp negative":          {map[string]any{"exp": -1}, 401},
		"issued in the future":  {map[string]any{"iat": now + 3600}, 401},
		"not yet":               {map[string]any{"nbf": now + 3600}, 401},
		"aud of another":        {map[string]any{"aud": "other"}, 401},
		"aud part of":           {map[string]any{"aud": fixture.Slug + "2"}, 401},
		"aud empty":             {map[string]any{"aud": ""}, 401},
		"aud empty list":        {map[string]any{"aud": []string{}}, 401},
		"aud a number":          {map[string]any{"aud": 7}, 401},
		"no user":               {map[string]any{"userId": nil}, 401},
		"user a number":         {map[string]any{"userId": 7}, 401},
		"no tenant":             {map[string]any{"tenantSlug": nil}, 401},
		"no status":             {map[string]any{"subscriptionStatus": nil}, 401},
		"impossible slug":       {map[string]any{"tenantSlug": `acme"; --`}, 401},
		"slug in capitals":      {map[string]any{"tenantSlug": "ACME"}, 401},
		"status not allowed":    {map[string]any{"subscriptionStatus": "Paused"}, 403},
		"tenant not allowed":    {map[string]any{"tenantStatus": "Suspended"}, 403},
		"tenant not here":       {map[string]any{"tenantSlug": "unheard-of"}, 403},
		"tenant cancelled here": {map[string]any{"tenantSlug": "gone"}, 403},
	} {
		answer := b.Do(http.MethodGet, "/api/me", nil, with(m.sign(t, claims(c.changes), nil)))
		if answer.Status != c.want || c.want != 200 && answer.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s, want %d", name, answer.Status, answer.Body, c.want)
		}
	}
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM public.tenants WHERE slug = 'unheard-of'`); n != 0 {
		t.Error("a token made a tenant")
	}
}

// What a header says about keys is the attacker's word.
func TestBearer_ATokenCannotBringItsOwnKey(t *testing.T) {
	t.Parallel()
	m, evil := newMinter(t), newMinter(t)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"PLATFORM_JWKS_URL": m.URL}})
	site.Subscribe(t, "acme")
	b := site.Browser(t)
	own := jose.JSONWebKey{Key: evil.key.Public(), KeyID: "k1"}
	for name, header := range map[string]map[jose.HeaderKey]any{
		"nothing more": nil, "jwk": {"jwk": own}, "jku": {"jku": evil.URL}, "x5u": {"x5u": evil.URL}, "crit": {"crit": []string{"exp"}},
		"kid as a path": {"kid": "../../k1"}, "no kid": {"kid": ""}, "kid as SQL": {"kid": "k1' OR '1'='1"},
	} {
		refused(t, name, b, with(evil.sign(t, claims(nil), header)))
	}
	if n := evil.fetches.Load(); n != 0 {
		t.Errorf("the token's own address was asked %d times", n)
	}
	refused(t, "crit, signed by the right key", b, with(m.sign(t, claims(nil), map[jose.HeaderKey]any{"crit": []string{"unknown"}, "unknown": 1})))
}

func TestBearer_RotatedKeysAreFoundAndUnknownOnesDoNotHammerThePlatform(t *testing.T) {
	t.Parallel()
	m := newMinter(t)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"PLATFORM_JWKS_URL": m.URL}})
	site.Subscribe(t, "acme")
	b := site.Browser(t)
	get := func(token string) int { return b.Do(http.MethodGet, "/api/me", nil, with(token)).Status }
	first := m.sign(t, claims(nil), nil)
	for range 20 {
		if status := get(first); status != http.StatusOK {
			t.Fatalf("good: %d", status)
		}
	}
	if n := m.fetches.Load(); n != 1 {
		t.Errorf("20 tokens fetched the keys %d times", n)
	}
	old := m.key
	m.key, _ = rsa.GenerateKey(rand.Reader, 2048)
	set, _ := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: old.Public(), KeyID: "k1"}, {Key: m.key.Public(), KeyID: "k2"}}})
	m.body.Store(string(set))
	rotated := m.sign(t, claims(nil), map[jose.HeaderKey]any{"kid": "k2"})
	if status := get(rotated); status != http.StatusOK {
		t.Errorf("signed by the new key: %d", status)
	}
	for i := range 100 {
		unknown := m.sign(t, claims(nil), map[jose.HeaderKey]any{"kid": base64.URLEncoding.EncodeToString([]byte{byte(i)})})
		if status := get(unknown); status != http.StatusUnauthorized {
			t.Errorf("unknown key: %d", status)
		}
	}
	if n := m.fetches.Load(); n > 6 {
		t.Errorf("100 unknown keys fetched the keys %d times", n)
	}
	if get(first) != http.StatusOK || get(rotated) != http.StatusOK {
		t.Error("the flood has cost somebody the access")
	}
}

func TestBearer_KeysThatCannotBeHad(t *testing.T) {
	t.Parallel()
	m := newMinter(t)
	small, _ := rsa.GenerateKey(rand.Reader, 1024) // too small on purpose
	tooSmall, _ := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: small.Public(), KeyID: "k1"}}})
	symmetric, _ := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: []byte("secret"), KeyID: "k1"}}})
	good := m.sign(t, claims(nil), nil)
	by := func(key *rsa.PrivateKey) string { return (&minter{key: key}).sign(t, claims(nil), nil) }
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"garbage": {"<html>", 503}, "huge": {`{"keys":[` + strings.Repeat(" ", 1<<20) + `]}`, 503}, "nothing": {"", 503}, "no list": {`{}`, 503},
		"no keys": {`{"keys":[]}`, 401}, "a short key": {string(tooSmall), 401}, "a symmetric key": {string(symmetric), 401}, "odd keys": {`{"keys":[7,{},{"kty":"new"}]}`, 401},
	} {
		other := newMinter(t)
		other.body.Store(c.body)
		site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"PLATFORM_JWKS_URL": other.URL}})
		token := good
		if name == "a short key" {
			token = by(small)
		}
		if answer := site.Browser(t).Do(http.MethodGet, "/api/me", nil, with(token)); answer.Status != c.want {
			t.Errorf("%s: %d %s, want %d", name, answer.Status, answer.Body, c.want)
		}
	}
}

// A cancellation ends a token's access with the next request, though the token
// itself is good for minutes more.
func TestBearer_ACancellationEndsATokensAccess(t *testing.T) {
	t.Parallel()
	site := tokenSite(t)
	site.Subscribe(t, "acme")
	good := token(t, site, "u-acme", "")
	b := site.Browser(t)
	if answer := b.Do(http.MethodGet, "/api/items", nil, with(good)); answer.Status != http.StatusOK {
		t.Fatalf("before: %d", answer.Status)
	}
	if _, err := site.Platform.Cancel(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/items", "/api/me"} { // the second asks no data
		if answer := b.Do(http.MethodGet, path, nil, with(good)); answer.Status != http.StatusForbidden {
			t.Errorf("%s after: %d, want 403", path, answer.Status)
		}
	}
}
