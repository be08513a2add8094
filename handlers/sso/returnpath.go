package sso

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode"
)

// maxPath keeps the login cookie well under what browsers store.
const maxPath = 2048

// safePath returns p if it is a path on this server that a browser cannot read
// as another host in any spelling, and "/" otherwise.
func safePath(p string) string {
	if len(p) == 0 || len(p) > maxPath || p[0] != '/' || strings.HasPrefix(p, "//") ||
		strings.ContainsRune(p, '\\') || strings.IndexFunc(p, unprintable) >= 0 {
		return "/"
	}
	u, err := url.Parse(p)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || strings.HasPrefix(u.Path, "//") || strings.ContainsRune(u.Path, '\\') {
		return "/"
	}
	for _, loop := range []string{"/login", "/logout", "/sso"} {
		if u.Path == loop || strings.HasPrefix(u.Path, loop+"/") {
			return "/"
		}
	}
	return p
}

func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar
}

func encodePath(p string) string { return base64.RawURLEncoding.EncodeToString([]byte(p)) }

func decodePath(s string) string {
	p, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return "/"
	}
	return safePath(string(p))
}
