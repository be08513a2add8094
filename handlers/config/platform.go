package config

import (
	"strings"
	"unicode"
)

// appSlug refuses what can be no slug in an address. What else the platform
// allows, the contract does not show.
func (r *Reader) appSlug(name string) string {
	v := r.RequiredText(name, "")
	impossible := func(c rune) bool { return c == '/' || c == '\\' || unicode.IsSpace(c) || unicode.IsControl(c) }
	if strings.ContainsFunc(v, impossible) {
		r.fail(name, "must be a slug like my-product, without spaces and slashes, not %q", v)
	}
	return v
}

// headerSecret is a secret that is sent as a header, which has one line: with
// more, no request would leave.
func (r *Reader) headerSecret(name string) Secret {
	secret := r.RequiredSecret(name, "")
	if strings.ContainsFunc(secret.Reveal(), unicode.IsControl) {
		r.fail(name, "must be one line without control characters, for it is sent as a header")
	}
	return secret
}
