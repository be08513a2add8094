package conformance

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/subproduct/handlers/dev/simulator"
)

// probe is one look of the platform at the health URL (contract, section 3).
func (c *check) probe() answer { return c.get(simulator.NewClient(), c.at(c.healthPath)).inTime() }

// staysHealthy is what must hold after every mishap.
func (c *check) staysHealthy() {
	during("afterwards the health URL", func() { c.probe() })
}

// probes looks several times while something else goes on, and says how long
// the slowest answer took.
func (c *check) probes(n int) string {
	var slowest time.Duration
	for i := range n {
		during(fmt.Sprintf("probe %d of %d", i+1, n), func() { slowest = max(slowest, c.probe().took) })
	}
	return fmt.Sprintf("%d probes, the slowest in %d ms", n, slowest.Milliseconds())
}

func checkHealth(c *check) string { return c.probe().String() }

// checkHealthWhileHanging lets four sign-ins wait for the platform.
func checkHealthWhileHanging(c *check) string {
	user, before := c.member("first").user, len(c.callsSince(0))
	release := c.hold()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer release()
	for range 4 {
		waiting.Go(func() { _ = try(func() { c.arrive(newBrowser(), user) }) })
	}
	if c.awaitCalls(c.ctx, before+4) == before {
		fail("no sign-in came as far as user-info")
	}
	return c.probes(5)
}

// checkHealthWhileBusy sends webhooks and page visits as fast as they are
// answered; what those answer is for other rules.
func checkHealthWhileBusy(c *check) string {
	ctx, stop := context.WithCancel(c.ctx)
	busy, user := &check{c.walk, ctx}, c.newTenant()
	var load sync.WaitGroup
	defer load.Wait()
	defer stop()
	for range 4 {
		load.Go(func() {
			for range 5 {
				_ = try(func() { busy.deliver(busy.event(created, user.Tenant)) })
				_ = try(func() { busy.get(newBrowser(), busy.at(busy.sessionPath)) })
			}
		})
	}
	return c.probes(10)
}
