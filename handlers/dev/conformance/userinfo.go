package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/subproduct/handlers/dev/simulator"
)

// whileUserInfo signs a user in while user-info answers wrongly, in each way.
func whileUserInfo(answers ...simulator.Faults) func(*check) string {
	return func(c *check) string {
		defer c.platform.SetFaults(simulator.Faults{})
		var seen []string
		for _, f := range answers {
			c.platform.SetFaults(f)
			browser := newBrowser()
			a := c.arrive(browser, c.anyUser())
			during(cmp.Or(f.UserInfoBody, "500"), func() { c.nobody(browser) })
			c.staysHealthy()
			seen = append(seen, fmt.Sprintf("%d, no session", a.page.status))
		}
		return strings.Join(seen, "; ")
	}
}

// hold keeps user-info from answering until release is called.
func (c *check) hold() (release func()) {
	c.platform.SetFaults(simulator.Faults{UserInfoDelay: simulator.Delay(20 * time.Second)})
	return func() { c.platform.SetFaults(simulator.Faults{}) }
}

// checkUserInfoSlow does not ask for an answer in time: the contract sets no
// limit to a page.
func checkUserInfoSlow(c *check) string {
	defer c.hold()()
	browser, seen := newBrowser(), ""
	err := try(func() { seen = "the callback answered " + c.arrive(browser, c.anyUser()).page.String() })
	if errors.Is(err, errNoAnswer) {
		seen, err = "the callback had not answered after "+waitLimit.String(), nil
	}
	must(err)
	c.nobody(browser)
	c.staysHealthy()
	return seen + "; no session"
}

// checkStatus asks nothing about the page: that there is no session counts.
func checkStatus(c *check) string {
	u := c.newTenant()
	var seen []string
	for _, step := range []struct {
		status string
		change func(context.Context, string) (simulator.Delivery, error)
	}{{simulator.StatusPaused, c.platform.Pause}, {simulator.StatusCancelled, c.platform.Cancel}} {
		_, err := step.change(c.ctx, u.Tenant)
		must(err)
		browser := newBrowser()
		a := c.arrive(browser, u)
		during(step.status, func() { c.nobody(browser) })
		seen = append(seen, fmt.Sprintf("%s: %d, no session", step.status, a.page.status))
	}
	return strings.Join(seen, "; ")
}
