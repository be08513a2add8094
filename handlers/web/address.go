package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// comesFrom reports whether a request's connection is one of trusted proxies.
func comesFrom(r *http.Request, trusted []netip.Prefix) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(peer.Addr().Unmap()) })
}

// ClientAddress says whose address a request counts as: that of the connection,
// unless it comes from a trusted proxy, whose X-Forwarded-For is then believed
// up to the first address that is not trusted.
func ClientAddress(trusted []netip.Prefix) echo.IPExtractor {
	if len(trusted) == 0 {
		return echo.ExtractIPDirect()
	}
	options := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range trusted {
		p = p.Masked()
		options = append(options, echo.TrustIPRange(&net.IPNet{
			IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen()),
		}))
	}
	extract := echo.ExtractIPFromXFFHeader(options...)
	return func(r *http.Request) string {
		return extract(&http.Request{RemoteAddr: r.RemoteAddr, Header: http.Header{
			echo.HeaderXForwardedFor: withoutPorts(r.Header.Values(echo.HeaderXForwardedFor)),
		}})
	}
}

// withoutPorts is lists of addresses without the ports that some balancers add.
// Whatever is no address with a port stays as it is.
func withoutPorts(lists []string) (plain []string) {
	for _, list := range lists {
		for address := range strings.SplitSeq(list, ",") {
			if both, err := netip.ParseAddrPort(strings.TrimSpace(address)); err == nil {
				address = both.Addr().String()
			}
			plain = append(plain, address)
		}
	}
	return plain
}
