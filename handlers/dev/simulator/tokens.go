package simulator

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Flaws that a token can have. A verifier must refuse every one of them.
const (
	TokenExpired       = "expired"        // exp an hour ago
	TokenNotYet        = "not-yet"        // nbf in an hour
	TokenWrongIssuer   = "wrong-issuer"   // another iss
	TokenWrongAudience = "wrong-audience" // aud is another product
	TokenWrongKey      = "wrong-key"      // signed by a key never published, under a published kid
	TokenUnknownKey    = "unknown-key"    // kid that the key set does not have
	TokenAltered       = "altered"        // claims changed after signing
	TokenAlgNone       = "alg-none"       // no signature at all
	TokenHS256         = "hs256"          // HMAC keyed with the published key's PEM
)

// tokenLifetime is that of a good token.
const tokenLifetime = 5 * time.Minute

// claims are the simulator's own: the contract says that tokens are RS256 with
// a JWKS key set, and shows nothing of their content.
type claims struct {
	Issuer    string `json:"iss"`
	Audience  string `json:"aud"`
	Subject   string `json:"sub"`
	IssuedAt  int64  `json:"iat"`
	NotBefore int64  `json:"nbf,omitempty"`
	Expires   int64  `json:"exp"`
	userInfo
}

// Token returns an RS256 token about a user. With a flaw, it is one that must
// be refused for exactly that; an empty flaw is a good one.
func (p *Platform) Token(issuer, userID, flaw string) (string, error) {
	keys, err := p.keys()
	if err != nil {
		return "", err
	}
	key := keys[len(keys)-1]
	private, err := x509.ParsePKCS1PrivateKey(key.Private)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	c, err := p.claims(issuer, userID)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	token := rs256{alg: "RS256", kid: key.ID, claims: c, key: private}
	if err := token.spoil(flaw); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return token.sign(flaw)
}

func (p *Platform) claims(issuer, userID string) (claims, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	user := p.state.user(userID)
	if user == nil {
		return claims{}, fmt.Errorf("user %q: %w", userID, ErrUnknown)
	}
	now := time.Now()
	return claims{
		Issuer: issuer, Audience: p.state.Product.Slug, Subject: user.ID,
		IssuedAt: now.Unix(), Expires: now.Add(tokenLifetime).Unix(), userInfo: p.state.userInfo(user),
	}, nil
}

// rs256 is a token before it is signed.
type rs256 struct {
	alg, kid string
	claims   claims
	key      *rsa.PrivateKey
}

// spoil does what has to happen before signing.
func (t *rs256) spoil(flaw string) (err error) {
	switch flaw {
	case "", TokenAltered:
	case TokenExpired:
		t.claims.IssuedAt -= 2 * 3600
		t.claims.Expires = t.claims.IssuedAt + 3600
	case TokenNotYet:
		t.claims.NotBefore = t.claims.IssuedAt + 3600
		t.claims.Expires += 3600
	case TokenWrongIssuer:
		t.claims.Issuer = "https://another.example"
	case TokenWrongAudience:
		t.claims.Audience = "another-product"
	case TokenWrongKey:
		t.key, err = rsa.GenerateKey(rand.Reader, 2048)
	case TokenUnknownKey:
		t.kid = "key_unknown"
		t.key, err = rsa.GenerateKey(rand.Reader, 2048)
	case TokenAlgNone:
		t.alg = "none"
	case TokenHS256:
		t.alg = "HS256"
	default:
		err = fmt.Errorf("%w: no flaw is called %q", ErrInvalid, flaw)
	}
	return err
}

func (t *rs256) sign(flaw string) (string, error) {
	head, err1 := json.Marshal(map[string]string{"alg": t.alg, "kid": t.kid, "typ": "JWT"})
	body, err2 := json.Marshal(t.claims)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	signed := base64url(head) + "." + base64url(body)
	var signature []byte
	var err error
	switch t.alg {
	case "RS256":
		digest := sha256.Sum256([]byte(signed))
		signature, err = rsa.SignPKCS1v15(rand.Reader, t.key, crypto.SHA256, digest[:])
	case "HS256":
		signature, err = hmacWithPublicKey(&t.key.PublicKey, signed)
	}
	if flaw == TokenAltered {
		t.claims.TenantSlug += "-other"
		body, err2 = json.Marshal(t.claims)
		signed = base64url(head) + "." + base64url(body)
	}
	return signed + "." + base64url(signature), errors.Join(err, err2)
}

// hmacWithPublicKey is the classic confusion: what a verifier published is
// taken for a shared secret.
func hmacWithPublicKey(key *rsa.PublicKey, signed string) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	mac.Write([]byte(signed))
	return mac.Sum(nil), nil
}

func base64url(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// tokenInput asks for a token, with a flaw of tokens.go or none.
type tokenInput struct {
	User string `json:"user"`
	Flaw string `json:"flaw"`
}

func (p *Platform) apiToken(r *http.Request, in tokenInput) (any, error) {
	token, err := p.Token(p.publicURL(r), in.User, in.Flaw)
	return map[string]string{"token": token}, err
}
