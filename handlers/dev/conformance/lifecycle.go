package conformance

import (
	"fmt"
	"strings"
)

// checkDuplicate delivers the same bytes again, after the tenant was used: what
// is there must still be there, once.
func checkDuplicate(c *check) string {
	m, before := c.join(), ""
	readable := c.passed["tenants-data"]
	if readable {
		c.write(m)
		before = c.read(m)
	}
	var a answer
	during("the second delivery", func() { a = c.accept(m.event) })
	c.stays(m)
	if !readable {
		return a.String() + ", the session stays"
	}
	if c.read(m) != before {
		fail("%s shows something else than before", c.readPath)
	}
	return a.String() + ", session and data stay"
}

func checkDuplicatesAtOnce(c *check) string {
	const copies = 10
	m := c.newMember()
	together(copies, func(int) { c.accept(m.event) })
	c.signIn(m)
	return fmt.Sprintf("%d copies, all accepted", copies)
}

// cancel signs in users of two tenants and cancels one, once in a run.
func (c *check) cancel() *member {
	if c.cancelled == nil {
		c.member("second")
		gone := c.join()
		during("tenant.cancelled", func() { c.accept(c.event(cancelled, gone.user.Tenant)) })
		c.cancelled = gone
	}
	return c.cancelled
}

func checkCancelEnds(c *check) string { return c.isOver(c.cancel()) }

// isOver wants the session path to show the member no more.
func (c *check) isOver(m *member) string {
	a := c.get(m.browser, c.at(c.sessionPath))
	if a.ok() && (!c.shell || strings.Contains(string(a.body), m.user.Tenant)) {
		fail("the session of the cancelled tenant goes on")
	}
	return fmt.Sprintf("%s: %d", c.sessionPath, a.status)
}

func checkCancelSpares(c *check) string {
	c.cancel()
	c.stays(c.members["second"])
	return "the other session goes on"
}

// checkCancelRedelivery does not judge the answer, which is the rule
// "duplicate": only what the old event does.
func checkCancelRedelivery(c *check) string {
	gone := c.cancel()
	a := c.deliver(gone.event)
	return fmt.Sprintf("answered %d; then %s", a.status, c.isOver(gone))
}
