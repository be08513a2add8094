package conformance

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"example.com/subproduct/handlers/dev/simulator"
)

// member is a user with the browser that holds the session.
type member struct {
	user    simulator.User
	browser *http.Client
	event   []byte // subscription.created, as it was delivered
}

// arrival is a return from the platform.
type arrival struct {
	code, address string
	page          answer
}

// arrive brings a user back from the platform, after the visit of the login
// page that the contract begins with (SSO rules 1 to 3). What is wrong with
// that page is judged by another rule.
func (c *check) arrive(browser *http.Client, u simulator.User) arrival {
	back := c.at(c.callbackPath)
	if !c.noLogin {
		_ = try(func() {
			_, elsewhere := c.follow(browser, c.at(c.loginPath))
			if elsewhere != nil && strings.HasPrefix(elsewhere.Query().Get("redirect"), c.target.String()+"/") {
				back = elsewhere.Query().Get("redirect")
			}
		})
	}
	return c.arriveAt(browser, u, back)
}

// arriveAt brings a user to a callback address, also one whom the platform
// sends by itself (SSO rule 6).
func (c *check) arriveAt(browser *http.Client, u simulator.User, back string) arrival {
	code, err := c.platform.IssueCode(u.ID)
	must(err)
	joint := "?"
	if strings.Contains(back, "?") {
		joint = "&"
	}
	a := arrival{code: code, address: back + joint + "code=" + url.QueryEscape(code)}
	c.visits(code)
	a.page, _ = c.follow(browser, a.address)
	return a
}

// newMember is the user of a new tenant, who has not signed in.
func (c *check) newMember() *member {
	m := &member{user: c.newTenant(), browser: newBrowser()}
	m.event = c.event(created, m.user.Tenant)
	return m
}

// join subscribes a new tenant and signs its user in.
func (c *check) join() *member {
	m := c.newMember()
	during("subscription.created", func() { c.accept(m.event) })
	c.signIn(m)
	return m
}

func (c *check) signIn(m *member) {
	c.settled(m.browser, m.user, c.arrive(m.browser, m.user).page)
}

// member is the signed-in user of that name, the same for all rules; a new one
// when a rule has lost it.
func (c *check) member(name string) *member {
	if m := c.members[name]; m != nil {
		in := false
		if _ = try(func() { in, _ = c.signedIn(m.browser, m.user) }); in {
			return m
		}
	}
	during("no session to judge it by", func() { c.members[name] = c.join() })
	return c.members[name]
}

// signedIn says whether the session path shows the user.
func (c *check) signedIn(browser *http.Client, u simulator.User) (bool, answer) {
	a := c.get(browser, c.at(c.sessionPath))
	text := html.UnescapeString(string(a.body))
	return a.ok() && (strings.Contains(text, u.ID) || strings.Contains(text, u.Email)), a
}

// settled wants a session for a browser that has just arrived. It goes where a
// page that waits for the tenant moves on to.
func (c *check) settled(browser *http.Client, u simulator.User, page answer) {
	for deadline := time.Now().Add(waitLimit); ; {
		in, a := c.signedIn(browser, u)
		if in {
			return
		}
		next := refresh(page)
		if next == "" || time.Now().After(deadline) {
			fail("callback: %s; then %s: %d without the user's e-mail address or id", page, c.sessionPath, a.status)
		}
		time.Sleep(200 * time.Millisecond)
		page, _ = c.follow(browser, next)
	}
}

var metaRefresh = regexp.MustCompile(`(?i)http-equiv="?refresh"?[^>]*content="[^"]*url=([^"]+)"`)

// refresh is where a page moves on to by itself; empty: it stays.
func refresh(page answer) string {
	to := ""
	if _, after, found := strings.Cut(page.header.Get("Refresh"), "url="); found {
		to = after
	} else if m := metaRefresh.FindSubmatch(page.body); m != nil {
		to = html.UnescapeString(string(m[1]))
	}
	next, err := page.from.Parse(to)
	if to == "" || err != nil || next.Host != page.from.Host {
		return ""
	}
	return next.String()
}

// nobody wants a browser to have no session, whoever's it may be.
func (c *check) nobody(browser *http.Client) {
	a := c.get(browser, c.at(c.sessionPath))
	if a.ok() && (!c.shell || strings.Contains(string(a.body), c.run)) {
		fail("there is a session")
	}
}

// stays wants the member's session to be there still.
func (c *check) stays(m *member) {
	if in, a := c.signedIn(m.browser, m.user); !in {
		fail("the tenant's session is gone (%s: %d)", c.sessionPath, a.status)
	}
}
