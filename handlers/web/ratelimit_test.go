package web

import (
	"net/netip"
	"testing"
	"time"
)

func TestRateLimit_LetsABurstThroughAndThenThePace(t *testing.T) {
	t.Parallel()
	c := newClients(20, 100)
	client, now := clientKey("192.0.2.1"), time.Now()
	passed := func(n int) (count int) {
		for range n {
			if c.take(client, now) == 0 {
				count++
			}
		}
		return count
	}
	if got := passed(500); got != 100 {
		t.Errorf("at once: %d, want five seconds' worth", got)
	}
	if wait := c.take(client, now); wait <= 0 || wait > time.Second/20 {
		t.Errorf("the next in %v", wait)
	}
	now = now.Add(time.Second)
	if got := passed(500); got != 20 {
		t.Errorf("a second later: %d, want 20", got)
	}
	if c.take(clientKey("192.0.2.2"), now) != 0 {
		t.Error("another client paid for it")
	}
}

// A client cannot be more than one by the spelling or the choice of its
// address.
func TestRateLimit_ClientKey(t *testing.T) {
	t.Parallel()
	for a, b := range map[string]string{
		"192.0.2.1": "::ffff:192.0.2.1", "2001:db8:1:2::1": "2001:db8:1:2:ffff:ffff:ffff:ffff", "fe80::1%eth0": "fe80::2", "nonsense": "", "unix": "@",
	} {
		if clientKey(a) != clientKey(b) {
			t.Errorf("%s and %s are two", a, b)
		}
	}
	for a, b := range map[string]string{"192.0.2.1": "192.0.2.2", "2001:db8:1:2::1": "2001:db8:1:3::1", "::1": "127.0.0.1"} {
		if clientKey(a) == clientKey(b) {
			t.Errorf("%s and %s are one", a, b)
		}
	}
}

// Millions of addresses take the memory of thousands, and one that stays
// active stays limited.
func TestRateLimit_MemoryIsBounded(t *testing.T) {
	t.Parallel()
	const most = 1000
	c, now := newClients(1, most), time.Now()
	busy := clientKey("198.51.100.1")
	limited := 0
	for i := range 100_000 {
		addr := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		c.take(netip.PrefixFrom(addr, 32), now)
		if i%100 == 0 && c.take(busy, now) > 0 {
			limited++
		}
		if n := len(c.young) + len(c.old); n > most {
			t.Fatalf("%d remembered", n)
		}
	}
	if limited != 1000-burst {
		t.Errorf("the busy client was limited %d times, want %d", limited, 1000-burst)
	}
}
