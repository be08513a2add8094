package simulator

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
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
	keys := p.keys()
	defer p.lock()()
	user, err := find(p.state.Users, userID)
	if err != nil {
		return "", err
	}
	now := time.Now()
	return sign(claims{
		Issuer: issuer, Audience: p.state.Product.Slug, Subject: user.ID,
		IssuedAt: now.Unix(), Expires: now.Add(tokenLifetime).Unix(), userInfo: p.state.userInfo(user),
	}, keys[len(keys)-1].JWK, flaw)
}

// sign makes a token with a flaw.
func sign(c claims, key jose.JSONWebKey, flaw string) (string, error) {
	algorithm, err := spoil(&c, &key, flaw)
	if err != nil {
		return "", err
	}
	token, err := compact(c, algorithm, key)
	if err != nil {
		return "", err
	}
	parts := strings.Split(token, ".")
	switch flaw {
	case TokenAltered:
		c.TenantSlug += "-other"
		changed, err := json.Marshal(c)
		return parts[0] + "." + base64.RawURLEncoding.EncodeToString(changed) + "." + parts[2], err
	case TokenAlgNone:
		return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + parts[1] + ".", nil
	}
	return token, nil
}

// spoil puts a flaw into what is signed, or into what signs it.
func spoil(c *claims, key *jose.JSONWebKey, flaw string) (algorithm jose.SignatureAlgorithm, err error) {
	algorithm = jose.RS256
	switch flaw {
	case "", TokenAltered, TokenAlgNone: // the token is changed after it was signed, if at all
	case TokenExpired:
		c.IssuedAt, c.Expires = c.IssuedAt-2*3600, c.IssuedAt-3600
	case TokenNotYet:
		c.NotBefore, c.Expires = c.IssuedAt+3600, c.Expires+3600
	case TokenWrongIssuer:
		c.Issuer = "https://another.example"
	case TokenWrongAudience:
		c.Audience = "another-product"
	case TokenWrongKey:
		*key = newKey(key.KeyID)
	case TokenUnknownKey:
		*key = newKey("key_unknown")
	case TokenHS256:
		algorithm, key.Key = jose.HS256, publicPEM(*key)
	default:
		err = fmt.Errorf("%w: no flaw is called %q", ErrInvalid, flaw)
	}
	return algorithm, err
}

// compact is the token in its usual form, of three parts.
func compact(c claims, algorithm jose.SignatureAlgorithm, key jose.JSONWebKey) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, new(jose.SignerOptions).WithType("JWT"))
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(c).Serialize()
}

// publicPEM is what a confused verifier takes for a shared secret.
func publicPEM(key jose.JSONWebKey) []byte {
	der, _ := x509.MarshalPKIXPublicKey(key.Public().Key) // an RSA key, which it knows
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}
