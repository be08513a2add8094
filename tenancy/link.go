package tenancy

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrBadLink says that a link's token is forged, cut off, expired or for
// another purpose, or that its tenant is gone. Which of them is nobody's
// business.
var ErrBadLink = errors.New("the link is not valid, or not any more")

// maxLink bounds a token, so that a hostile one costs nothing.
const maxLink = 1024

// SignLink returns a token for a public link: with it anybody reaches value,
// the id of an invoice for example, in the data of ctx's tenant, until life is
// over. The token holds the tenant's slug and value, readable and URL-safe; it
// is good for one purpose, which OpenLink must name too. It returns
// ErrNoTenant, ErrTenantCancelled, and an error where value is over 600 bytes.
// It costs one round trip; call it outside InTx, which has a connection already.
func (db *DB) SignLink(ctx context.Context, purpose, value string, life time.Duration) (token string, err error) {
	tenant, err := TenantFrom(ctx)
	if err != nil {
		return "", err
	}
	now, key, err := db.lookUp(ctx, tenant.Slug)
	if err == nil && !now.Is(tenant.ID) {
		err = ErrTenantCancelled
	}
	if err != nil {
		return "", err
	}
	expires := strconv.FormatInt(time.Now().Add(life).Unix(), 10)
	payload := strings.Join([]string{tenant.Slug.s, expires, base64.RawURLEncoding.EncodeToString([]byte(value))}, ".")
	token = payload + "." + linkMAC(key, purpose, payload)
	if len(token) > maxLink {
		return "", fmt.Errorf("sign link: the value has %d bytes: keep it below 600", len(value))
	}
	return token, nil
}

// OpenLink returns the value of a token that SignLink made for this purpose, and
// a context on which InTx works for its tenant. It returns ErrBadLink, or
// ErrTenantCancelled. It costs one round trip, or none where the token cannot be
// good.
func (db *DB) OpenLink(ctx context.Context, purpose, token string) (opened context.Context, value string, err error) {
	parts := strings.SplitN(token, ".", 5)
	if len(token) > maxLink || len(parts) != 4 {
		return nil, "", ErrBadLink
	}
	payload, mac := strings.TrimSuffix(token, "."+parts[3]), parts[3]
	slug, slugErr := ParseSlug(parts[0])
	expires, timeErr := strconv.ParseInt(parts[1], 10, 64)
	content, textErr := base64.RawURLEncoding.DecodeString(parts[2])
	if errors.Join(slugErr, timeErr, textErr) != nil || time.Now().Unix() >= expires {
		return nil, "", ErrBadLink
	}
	tenant, key, err := db.lookUp(ctx, slug)
	if errors.Is(err, ErrUnknownTenant) || err == nil && !hmac.Equal([]byte(mac), []byte(linkMAC(key, purpose, payload))) {
		return nil, "", ErrBadLink
	}
	if err != nil {
		return nil, "", err
	}
	if opened, err = active(ctx, tenant); err != nil {
		return nil, "", err
	}
	return opened, string(content), nil
}

// linkMAC signs a payload for one purpose. The payload has no zero byte, so no
// two pairs are the same text.
func linkMAC(key []byte, purpose, payload string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose + "\x00" + payload))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
