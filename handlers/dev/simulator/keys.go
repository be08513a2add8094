package simulator

import (
	"crypto/rand"
	"crypto/rsa"
	"net/http"

	"github.com/go-jose/go-jose/v4"
)

// signingKey is an RSA key of the platform (RS256, since v2.5.0).
type signingKey struct {
	JWK       jose.JSONWebKey `json:"jwk"` // with its private part
	Published bool            `json:"published"`
}

func newKey(id string) jose.JSONWebKey {
	private, _ := rsa.GenerateKey(rand.Reader, 2048) // fails for shorter ones only
	return jose.JSONWebKey{Key: private, KeyID: id, Use: "sig", Algorithm: string(jose.RS256)}
}

// RotateKey makes a new key, which signs from now on. The old ones stay
// published, so that their tokens are still good, until WithdrawKeys.
func (p *Platform) RotateKey() {
	key := newKey("")
	defer p.change()()
	key.KeyID = p.state.number("key")
	p.state.Keys = append(p.state.Keys, signingKey{JWK: key, Published: true})
}

// WithdrawKeys takes all but the signing key out of the published set: the
// tokens that they signed are no longer good.
func (p *Platform) WithdrawKeys() {
	defer p.change()()
	for i := range len(p.state.Keys) - 1 {
		p.state.Keys[i].Published = false
	}
}

// keys returns the keys, the signing one last. The first is made when it is
// asked for: most runs never need one.
func (p *Platform) keys() []signingKey {
	if keys := all(p, &p.state.Keys); len(keys) > 0 {
		return keys
	}
	p.RotateKey()
	return all(p, &p.state.Keys)
}

// jwks is GET /.well-known/jwks.json.
func (p *Platform) jwks(*http.Request, nothing) (jose.JSONWebKeySet, error) {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, key := range p.keys() {
		if key.Published {
			set.Keys = append(set.Keys, key.JWK.Public())
		}
	}
	return set, nil
}
