package web_test

import (
	"net/http"
	"net/netip"
	"testing"

	"example.com/subproduct/handlers/web"
)

// Behind a trusted proxy the last address that is not trusted is the client's,
// with a port or without; behind none it is the connection's.
func TestClientAddress_IsReadWithItsPort(t *testing.T) {
	t.Parallel()
	const proxy = "10.0.0.1"
	address := web.ClientAddress([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")})
	for _, c := range []struct {
		forwarded []string
		want      string
	}{
		{nil, proxy}, {[]string{""}, proxy}, {[]string{"unknown"}, proxy}, {[]string{"203.0.113.9:x"}, proxy}, {[]string{"[fe80::1%eth0]:80"}, proxy},
		{[]string{"203.0.113.9"}, "203.0.113.9"}, {[]string{"203.0.113.9:5555"}, "203.0.113.9"}, {[]string{"2001:db8::1"}, "2001:db8::1"},
		{[]string{"[2001:db8::1]"}, "2001:db8::1"}, {[]string{"[2001:db8::1]:443"}, "2001:db8::1"}, {[]string{"[::ffff:203.0.113.9]:443"}, "203.0.113.9"},
		{[]string{"198.51.100.1:1, 203.0.113.9:2 , 10.1.1.1:3,[2001:db8:1::2]:4"}, "203.0.113.9"}, {[]string{"198.51.100.1:1", "203.0.113.9:2"}, "203.0.113.9"},
		{[]string{"forged:1:2, 203.0.113.9:5555"}, "203.0.113.9"}, {[]string{"10.1.1.1:3"}, "10.1.1.1"},
	} {
		r := &http.Request{RemoteAddr: proxy + ":1234", Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := address(r); got != c.want {
			t.Errorf("%q: %s, want %s", c.forwarded, got, c.want)
		}
		r.RemoteAddr = "203.0.113.77:1234"
		if got := address(r); got != "203.0.113.77" {
			t.Errorf("%q of a stranger: %s", c.forwarded, got)
		}
	}
}
