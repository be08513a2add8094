package sso

import (
	"net/url"
	"path"
	"strings"
	"testing"
)

// elsewhere are return paths that lead off this server in some reader's eyes,
// or in circles.
var elsewhere = []string{
	"", "evil.example", "//evil.example", "///evil.example", "////evil.example", "https://evil.example", "https:evil.example", "http:/evil.example",
	"HTTPS://evil.example", "javascript:alert(1)", "data:text/html,x", "mailto:a@evil.example",
	`/\evil.example`, `\\evil.example`, `\/evil.example`, `/\/evil.example`, `/items\..\..`, "/%5cevil.example", "/%5C%5Cevil.example",
	"/\t/evil.example", "\t//evil.example", "/\n/evil.example", "/\r\nSet-Cookie: a=b", "/%0d%0a/x\r\n", "/ /evil.example", " /items", "/items\x00", "/\x7f",
	"/.//evil.example", "/..//evil.example", "/./items", "/x/..//evil.example", "/x/../login", "/items/..", "/%2e%2e//evil.example", "/%2e/%2fevil.example",
	"/%2f/evil.example", "/%2fevil.example", "/%2F%2Fevil.example", "/items//evil.example",
	"/\u2028/evil.example", "/\u3000/evil.example", "/／evil.example", "／／evil.example", "/\u202enotes", "/\xff\xfe", "/nötes",
	"/login", "/login/", "/login?return_to=/login", "/logout", "/sso/callback?code=x", "/sso/switch", "/%6cogin", "/%73so/callback?code=x",
	"/%zz", "/items?\x01", strings.Repeat("/x", 2000),
}

func TestReturnPath_IsSafe(t *testing.T) {
	t.Parallel()
	for _, p := range elsewhere {
		if got := safePath(p); got != "/" {
			t.Errorf("safePath(%q) = %q", p, got)
		}
	}
	for _, p := range []string{
		"/", "/items", "/items/", "/items?x=1&y=%2F%2Fevil.example", "/items?to=https://a.example/", "/items#end", "/a-b_c.d~e/1", "/caf%C3%A9", "/loginx", "/ssot",
	} {
		if got := safePath(p); got != p {
			t.Errorf("safePath(%q) = %q, want it unchanged", p, got)
		}
		if got := decodePath(encodePath(p)); got != p {
			t.Errorf("%q comes back from the cookie as %q", p, got)
		}
	}
	for _, cookie := range []string{"", "%%%", "Ly9ldmlsLmV4YW1wbGU", "aHR0cHM6Ly9ldmlsLmV4YW1wbGU"} { // the last two: //evil… and https://evil…
		if got := decodePath(cookie); got != "/" {
			t.Errorf("a tampered cookie leads to %q", got)
		}
	}
}

// Whatever is accepted stays on the host when a browser resolves it, and is a
// header that cannot be split.
func FuzzSafePath(f *testing.F) {
	for _, seed := range append([]string{"/items?x=1", "/a/b#c"}, elsewhere...) {
		f.Add(seed)
	}
	base, _ := url.Parse("https://app.example/sso/callback?code=x")
	f.Fuzz(func(t *testing.T, in string) {
		out := safePath(in)
		if out != in && out != "/" {
			t.Fatalf("%q became %q", in, out)
		}
		u, err := base.Parse(out)
		if err != nil || u.Host != "app.example" || u.Scheme != "https" || u.User != nil {
			t.Fatalf("%q leads to %v, %v", out, u, err)
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(path.Clean(u.Path), "/"), "/")
		if strings.HasPrefix(out, "//") || strings.ContainsAny(out, "\\\r\n\t\x00 ") || first == "sso" || first == "login" || first == "logout" {
			t.Fatalf("%q was accepted", out)
		}
		if got := decodePath(encodePath(in)); got != out {
			t.Fatalf("%q comes back from the cookie as %q, not %q", in, got, out)
		}
	})
}
