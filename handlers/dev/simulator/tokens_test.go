package simulator

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"
)

// verify is a product's careful reading of a token.
func (d *harness) verify(t *testing.T, token string) (claims, error) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("token %q has %d parts", token, len(parts))
	}
	var head struct{ Alg, Kid string }
	var c claims
	var raw [3][]byte
	for i, part := range parts {
		var err error
		if raw[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(json.Unmarshal(raw[0], &head), json.Unmarshal(raw[1], &c)); err != nil {
		t.Fatal(err)
	}
	if head.Alg != "RS256" {
		return c, fmt.Errorf("algorithm %s", head.Alg)
	}
	key := d.published(t)[head.Kid]
	if key == nil {
		return c, fmt.Errorf("no key %s", head.Kid)
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], raw[2]); err != nil {
		return c, err
	}
	now := time.Now().Unix()
	switch {
	case c.Issuer != d.url:
		return c, errors.New("issuer " + c.Issuer)
	case c.Audience != "notes":
		return c, errors.New("audience " + c.Audience)
	case now >= c.Expires || now < c.NotBefore:
		return c, errors.New("time")
	}
	return c, nil
}

func (d *harness) published(t *testing.T) map[string]*rsa.PublicKey {
	t.Helper()
	var set struct {
		Keys []struct {
			Type      string `json:"kty"`
			Use       string `json:"use"`
			Algorithm string `json:"alg"`
			ID        string `json:"kid"`
			Modulus   string `json:"n"`
			Exponent  string `json:"e"`
		}
	}
	if _, text := call(t, "GET", d.url+"/.well-known/jwks.json", ""); json.Unmarshal([]byte(text), &set) != nil {
		t.Fatalf("key set %s", text)
	}
	keys := map[string]*rsa.PublicKey{}
	for _, k := range set.Keys {
		n, err1 := base64.RawURLEncoding.DecodeString(k.Modulus)
		e, err2 := base64.RawURLEncoding.DecodeString(k.Exponent)
		if err := errors.Join(err1, err2); err != nil || k.Type != "RSA" || k.Use != "sig" || k.Algorithm != "RS256" {
			t.Fatalf("key %+v: %v", k, err)
		}
		keys[k.ID] = &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
	}
	return keys
}

func (d *harness) token(t *testing.T, flaw string) string {
	t.Helper()
	return d.api(t, "POST", "/_sim/tokens", `{"user":"ada","flaw":"`+flaw+`"}`, 200)["token"].(string)
}

func TestSimulator_TokensAndTheirFlaws(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	good, err := d.verify(t, d.token(t, ""))
	if err != nil || good.Subject != "ada" || good.UserID != "ada" || good.TenantSlug != "acme" || good.SubscriptionStatus != "Active" {
		t.Errorf("good token: %+v, %v", good, err)
	}
	for flaw, says := range map[string]string{
		TokenExpired: "time", TokenNotYet: "time", TokenWrongIssuer: "issuer", TokenWrongAudience: "audience",
		TokenWrongKey: "verification", TokenUnknownKey: "no key", TokenAltered: "verification",
		TokenAlgNone: "algorithm none", TokenHS256: "algorithm HS256",
	} {
		if _, err := d.verify(t, d.token(t, flaw)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want it refused for %q", flaw, err, says)
		}
	}
	d.api(t, "POST", "/_sim/tokens", `{"user":"ada","flaw":"odd"}`, 422)
	d.api(t, "POST", "/_sim/tokens", `{"user":"nobody"}`, 404)
}

func TestSimulator_KeysRotate(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	before := d.token(t, "")
	d.api(t, "POST", "/_sim/keys/rotate", "", 200)
	after := d.token(t, "")
	if len(d.published(t)) != 2 {
		t.Errorf("%d keys are published, want the old and the new", len(d.published(t)))
	}
	for name, token := range map[string]string{"before": before, "after": after} {
		if _, err := d.verify(t, token); err != nil {
			t.Errorf("the token of %s the rotation: %v", name, err)
		}
	}
	d.api(t, "POST", "/_sim/keys/withdraw", "", 200)
	if _, err := d.verify(t, before); err == nil {
		t.Error("a withdrawn key's token is still good")
	}
	if _, err := d.verify(t, after); err != nil {
		t.Errorf("the new key's token: %v", err)
	}
}
