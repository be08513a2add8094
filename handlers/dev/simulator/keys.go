package simulator

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
)

// signingKey is an RSA key of the platform (RS256, since v2.5.0).
type signingKey struct {
	ID        string `json:"id"`
	Private   []byte `json:"private"` // PKCS #1
	Published bool   `json:"published"`
}

// jwk is a public key in a key set (RFC 7517).
type jwk struct {
	Type      string `json:"kty"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
	ID        string `json:"kid"`
	Modulus   string `json:"n"`
	Exponent  string `json:"e"`
}

// RotateKey makes a new key, which signs from now on. The old ones stay
// published, so that their tokens are still good, until WithdrawKeys.
func (p *Platform) RotateKey() error {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("signing key: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.Keys = append(p.state.Keys, signingKey{
		ID: p.state.number("key"), Private: x509.MarshalPKCS1PrivateKey(private), Published: true,
	})
	p.touch()
	return nil
}

// WithdrawKeys takes all but the signing key out of the published set: what
// they signed is void.
func (p *Platform) WithdrawKeys() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range len(p.state.Keys) - 1 {
		p.state.Keys[i].Published = false
	}
	p.touch()
}

// keys returns the keys, the signing one last, and makes the first when it is
// asked for: most runs never need one.
func (p *Platform) keys() ([]signingKey, error) {
	p.mu.Lock()
	n := len(p.state.Keys)
	p.mu.Unlock()
	if n == 0 {
		if err := p.RotateKey(); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]signingKey(nil), p.state.Keys...), nil
}

// jwks is GET /.well-known/jwks.json.
func (p *Platform) jwks(w http.ResponseWriter, r *http.Request) {
	keys, err := p.keys()
	if err != nil {
		p.replyError(w, r, err)
		return
	}
	set := []jwk{}
	for _, key := range keys {
		private, err := x509.ParsePKCS1PrivateKey(key.Private)
		if err != nil {
			p.replyError(w, r, err)
			return
		}
		if key.Published {
			set = append(set, jwk{
				Type: "RSA", Use: "sig", Algorithm: "RS256", ID: key.ID,
				Modulus:  base64.RawURLEncoding.EncodeToString(private.N.Bytes()),
				Exponent: base64.RawURLEncoding.EncodeToString(big.NewInt(int64(private.E)).Bytes()),
			})
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"keys": set})
}

func (p *Platform) apiRotate(*http.Request, nothing) (any, error) { return nothing{}, p.RotateKey() }

func (p *Platform) apiWithdraw(*http.Request, nothing) (any, error) {
	p.WithdrawKeys()
	return nothing{}, nil
}
