package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// ErrBadToken says that a token is not one of the platform's for this product,
// or no longer, or not yet.
var ErrBadToken = errors.New("not a valid token of the platform")

const (
	maxToken = 8 << 10
	// clockSkew is forgiven of a token that begins in the future; an end is an
	// end.
	clockSkew = 30 * time.Second
	// maxDate is far in the future, and safe in every arithmetic.
	maxDate = 1 << 40
)

// Verifier checks the platform's RS256 tokens (contract, section 5).
type Verifier struct {
	Keys              *KeySet
	AppSlug           string
	TenantStatusField string
}

// Verify returns who the token is about. Only RS256 by a key that the platform
// publishes under the token's own kid counts, whatever else its header says;
// exp is required, nbf and iat must not be in the future, aud must have the
// product's slug where it is there. It returns ErrBadToken, wrapped with a
// reason for the log, or ErrUnavailable when the keys cannot be had.
func (v *Verifier) Verify(ctx context.Context, token string) (UserInfo, error) {
	payload, err := v.open(ctx, token)
	if err != nil {
		return UserInfo{}, err
	}
	if err := v.inForce(payload, time.Now()); err != nil {
		return UserInfo{}, fmt.Errorf("%w: %w", ErrBadToken, err)
	}
	user, err := parseUserInfo(payload, v.TenantStatusField)
	if err != nil {
		return UserInfo{}, fmt.Errorf("%w: %w", ErrBadToken, err)
	}
	return user, nil
}

// open checks the signature and returns what was signed.
func (v *Verifier) open(ctx context.Context, token string) ([]byte, error) {
	if len(token) > maxToken {
		return nil, fmt.Errorf("%w: over %d bytes", ErrBadToken, maxToken)
	}
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadToken, err)
	}
	key, err := v.Keys.Key(ctx, signed.Signatures[0].Protected.KeyID)
	if errors.Is(err, errNoKey) {
		return nil, fmt.Errorf("%w: %w", ErrBadToken, err)
	}
	if err != nil {
		return nil, err
	}
	payload, err := signed.Verify(key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadToken, err)
	}
	return payload, nil
}

// inForce checks the registered claims (RFC 7519, section 4.1).
func (v *Verifier) inForce(payload []byte, now time.Time) error {
	var c struct {
		Expires   *float64      `json:"exp"`
		NotBefore *float64      `json:"nbf"`
		IssuedAt  *float64      `json:"iat"`
		Audience  *jwt.Audience `json:"aud"` // a string or a list of strings
	}
	if err := json.Unmarshal(payload, &c); err != nil {
		return errors.New("no claims")
	}
	latest := float64(now.Add(clockSkew).Unix())
	switch {
	case c.Expires == nil:
		return errors.New("exp is missing")
	case *c.Expires <= float64(now.Unix()):
		return errors.New("expired")
	case *c.Expires > maxDate:
		return errors.New("exp is no date")
	case c.NotBefore != nil && *c.NotBefore > latest:
		return errors.New("not valid yet")
	case c.IssuedAt != nil && *c.IssuedAt > latest:
		return errors.New("issued in the future")
	case c.Audience != nil && !c.Audience.Contains(v.AppSlug):
		return errors.New("for another audience")
	}
	return nil
}
