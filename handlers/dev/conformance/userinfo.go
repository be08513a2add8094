package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"example.com/subproduct/handlers/dev/simulator"
)

func checkUserInfoError(c *check) string {
	return c.broken(simulator.Faults{UserInfoStatus: http.StatusInternalServerError})
}

func checkUserInfoGarbage(c *check) string {
	var seen []string
	for _, body := range []string{simulator.BodyGarbage, simulator.BodyNumbers, simulator.BodyCut} {
		during(body, func() { seen = append(seen, c.broken(simulator.Faults{UserInfoBody: body})) })
	}
	return strings.Join(seen, "; ")
}

// broken signs a user in while user-info answers wrongly.
func (c *check) broken(f simulator.Faults) string {
	c.platform.SetFaults(f)
	defer c.platform.SetFaults(simulator.Faults{})
	browser := newBrowser()
	a := c.arrive(browser, c.anyUser())
	c.nobody(browser)
	c.staysHealthy()
	return fmt.Sprintf("%d, no session", a.page.status)
}

// hold keeps user-info from answering until release is called.
func (c *check) hold() (release func()) {
	c.platform.SetFaults(simulator.Faults{UserInfoDelay: 20 * time.Second})
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
