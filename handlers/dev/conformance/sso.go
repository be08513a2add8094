package conformance

import (
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.com/subproduct/handlers/dev/simulator"
)

func checkSession(c *check) string {
	c.members["first"] = c.join()
	return c.sessionPath + " shows the user"
}

// checkLoginRedirect judges the address that begins a sign-in (contract,
// section 2).
func checkLoginRedirect(c *check) string {
	page, to := c.follow(newBrowser(), c.at(c.loginPath))
	if to == nil {
		fail("%s: %s, and no redirect to the platform", c.loginPath, page)
	}
	query := to.Query()
	redirect, err := url.Parse(query.Get("redirect"))
	to.RawQuery = ""
	switch {
	case to.String() != strings.TrimRight(c.platformURL, "/")+"/auth/sso":
		fail("leads to %s, not to %s/auth/sso (is --platform-url the target's PLATFORM_URL?)", to, c.platformURL)
	case query.Get("appSlug") != c.appSlug || len(query["appSlug"]) != 1:
		fail("appSlug is %q, not %q", query["appSlug"], c.appSlug)
	case err != nil || len(query["redirect"]) != 1 || redirect.Query().Has("code"):
		fail("there must be one redirect, an address without a code")
	case len(query) != 2:
		fail("the parameters are %q, not appSlug and redirect alone", slices.Sorted(maps.Keys(query)))
	}
	redirect.RawQuery = "" // a product may keep something of its own there
	if redirect.String() != c.at(c.callbackPath) {
		fail("redirect is %s, not %s", redirect, c.at(c.callbackPath))
	}
	return "to /auth/sso with appSlug and redirect"
}

func checkPlatformStarted(c *check) string {
	user, browser := c.member("first").user, newBrowser()
	c.settled(browser, user, c.arriveAt(browser, user, c.at(c.callbackPath)).page)
	return "a session"
}

func checkBeforeEvent(c *check) string {
	m := c.newMember()
	during("before the event", func() {
		c.settled(m.browser, m.user, c.arriveAt(m.browser, m.user, c.at(c.callbackPath)).page)
	})
	during("the event", func() { c.accept(m.event) })
	c.stays(m)
	return "a session, then the event"
}

func checkCodeOneTime(c *check) string {
	u, first, second := c.anyUser(), newBrowser(), newBrowser()
	a := c.arrive(first, u)
	c.settled(first, u, a.page)
	c.visits(a.code)
	page, _ := c.follow(second, a.address)
	c.nobody(second)
	return fmt.Sprintf("the second browser: %d, no session", page.status)
}

// visitMakesNoSession visits the callback address with each query.
func visitMakesNoSession(queries ...string) func(*check) string {
	return func(c *check) string {
		var seen []string
		for _, query := range queries {
			browser := newBrowser()
			page, _ := c.follow(browser, c.at(c.callbackPath+query))
			during("with the query "+strconv.Quote(query), func() { c.nobody(browser) })
			seen = append(seen, fmt.Sprintf("%d, no session", page.status))
		}
		return strings.Join(seen, "; ")
	}
}

// checkExchangeCall judges the call of user-info (contract, section 4.1).
func checkExchangeCall(c *check) string {
	before := len(c.callsSince(0))
	var a arrival
	err := try(func() { a = c.arrive(newBrowser(), c.anyUser()) })
	calls := c.callsSince(before)
	switch {
	case len(calls) == 0 && err != nil:
		fail("no call came to %s: %w", c.platformURL, err)
	case len(calls) == 0:
		fail("no call came to %s; the callback answered %s", c.platformURL, a.page)
	}
	first := calls[max(0, slices.IndexFunc(calls, func(c call) bool { return strings.HasSuffix(c.path, "/user-info") }))]
	kind, _, _ := mime.ParseMediaType(first.contentType)
	switch {
	case first.path != exchangePath || first.method != http.MethodPost:
		fail("%s %s, not POST %s", first.method, first.path, exchangePath)
	case first.key != "right":
		fail("X-Api-Key is %s", first.key)
	case kind != "application/json":
		fail("Content-Type is %q", first.contentType)
	case first.fields == nil:
		fail("the body is no JSON object")
	case !slices.Equal(first.fields, []string{"code"}):
		fail("the body's fields are %q, not code alone", first.fields)
	case first.code != a.code:
		fail("code is not the string that the callback address had")
	}
	return "POST with X-Api-Key and the code"
}

// anyUser is a user whom the product may or may not know.
func (w *walk) anyUser() simulator.User {
	if m := w.members["first"]; m != nil {
		return m.user
	}
	return w.newTenant()
}

// visits notes that a browser was sent to the callback address with a code.
func (w *walk) visits(code string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.visited[code]++
}

// checkExchangeOnce looks back on every code of the run, also those that
// user-info answered with an error, garbage or not at all.
func checkExchangeOnce(c *check) string {
	again, sent := 0, map[string]int{}
	for _, call := range c.callsSince(0) {
		sent[call.code]++
	}
	for code, visits := range c.visited {
		again += max(0, sent[code]-visits)
	}
	if again > 0 {
		fail("of %d codes %d were sent once too often or more", len(c.visited), again)
	}
	return fmt.Sprintf("%d codes, none sent again", len(c.visited))
}

// checkSecrets looks back on every answer of the run.
func checkSecrets(c *check) string {
	if slices.Sort(c.leaks); len(c.leaks) > 0 {
		fail("they stand in the answer of %s", strings.Join(slices.Compact(c.leaks), ", "))
	}
	return "in none"
}
