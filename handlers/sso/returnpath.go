package sso

import (
	"encoding/base64"
	"net/url"
	"path"
	"strings"
)

// maxPath keeps the login cookie well under what browsers store.
const maxPath = 2048

// safePath returns p if it is a path on this server that no browser and no proxy
// can read as another host, in any spelling, and "/" otherwise. It knows no
// dot segments, no doubled slashes and nothing but printable ASCII: what a
// browser sends has been escaped.
func safePath(p string) string {
	if len(p) > maxPath || !strings.HasPrefix(p, "/") || strings.IndexFunc(p, outlandish) >= 0 {
		return "/"
	}
	u, err := url.Parse(p)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || strings.ContainsRune(u.Path, '\\') || !plain(u.Path) || !plain(u.EscapedPath()) {
		return "/"
	}
	for _, loop := range []string{"/login", "/logout", "/sso"} {
		if u.Path == loop || strings.HasPrefix(u.Path, loop+"/") {
			return "/"
		}
	}
	return p
}

// plain reports whether a path is what it says: as it is, and not another one
// once somebody has cleaned it.
func plain(p string) bool {
	return p == "/" || strings.TrimSuffix(p, "/") == path.Clean(p)
}

func outlandish(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }

func encodePath(p string) string { return base64.RawURLEncoding.EncodeToString([]byte(p)) }

func decodePath(s string) string {
	p, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return "/"
	}
	return safePath(string(p))
}
