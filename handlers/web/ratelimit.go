package web

import (
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"
)

const (
	// burst is how many seconds' worth of requests may come at once: an office
	// behind one address begins its day.
	burst = 5
	// maxClients bounds what the limit remembers, at about 150 bytes each.
	maxClients = 20_000
)

// RateLimit answers 429 to a client address that asks more often than perSecond
// in the long run; 0 is no limit. Routes that share the middleware share the
// limit.
func RateLimit(perSecond int) echo.MiddlewareFunc {
	if perSecond <= 0 {
		return func(next echo.HandlerFunc) echo.HandlerFunc { return next }
	}
	clients := newClients(perSecond, maxClients)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			wait := clients.take(clientKey(c.RealIP()), time.Now())
			if wait <= 0 {
				return next(c)
			}
			c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(wait.Seconds()))))
			return echo.NewHTTPError(http.StatusTooManyRequests)
		}
	}
}

// clientKey is whom an address counts for: in IPv6 a client has a whole /64. An
// address that cannot be read shares one limit with all such.
func clientKey(ip string) netip.Prefix {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return netip.Prefix{}
	}
	addr = addr.Unmap().WithZone("")
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	prefix, _ := addr.Prefix(bits)
	return prefix
}

// clients has a token bucket for each client. It keeps two generations: when
// the young one is full it becomes the old one, and what has not been asked
// for since is forgotten. A client with that many addresses could have itself
// forgotten, but has as many budgets anyway.
type clients struct {
	perSecond, max int
	mu             sync.Mutex
	young, old     map[netip.Prefix]*rate.Limiter
}

func newClients(perSecond, most int) *clients {
	return &clients{perSecond: perSecond, max: most / 2, young: map[netip.Prefix]*rate.Limiter{}}
}

// take spends one request of the client, or says how long until it may.
func (c *clients) take(client netip.Prefix, now time.Time) (wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.limiter(client)
	if l.AllowN(now, 1) {
		return 0
	}
	missing := 1 - l.TokensAt(now)
	return time.Duration(missing / float64(c.perSecond) * float64(time.Second))
}

func (c *clients) limiter(client netip.Prefix) *rate.Limiter {
	if l := c.young[client]; l != nil {
		return l
	}
	l := c.old[client]
	if l == nil {
		l = rate.NewLimiter(rate.Limit(c.perSecond), burst*c.perSecond)
	}
	if len(c.young) >= c.max {
		c.young, c.old = map[netip.Prefix]*rate.Limiter{}, c.young
	}
	c.young[client] = l
	return l
}
