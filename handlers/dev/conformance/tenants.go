package conformance

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
)

const looks = 20 // at the same time, for a mix-up needs two requests at once

// bothLook lets the users of two tenants look at the same time.
func (c *check) bothLook(look func(me, other *member)) {
	pair := []*member{c.member("first"), c.member("second")}
	together(looks, func(i int) { look(pair[i%2], pair[1-i%2]) })
}

func checkIdentities(c *check) string {
	c.bothLook(func(me, other *member) {
		in, page := c.signedIn(me.browser, me.user)
		switch {
		case strings.Contains(string(page.body), other.user.Tenant):
			fail("one tenant's user saw the other's")
		case !in:
			fail("%s: %d without the user", c.sessionPath, page.status)
		}
	})
	return fmt.Sprintf("%d requests, each saw its own user", looks)
}

func checkData(c *check) string {
	if c.writePath == "" {
		skip("the product keeps nothing to write and read (--write-path is empty)")
	}
	texts := map[*member]string{}
	for _, name := range []string{"first", "second"} {
		m := c.member(name)
		texts[m] = c.write(m)
	}
	c.bothLook(func(me, other *member) {
		page := c.read(me)
		switch {
		case strings.Contains(page, texts[other]):
			fail("a user read what another tenant's user wrote")
		case !strings.Contains(page, texts[me]):
			fail("GET %s does not show what the user wrote (is --read-path right?)", c.readPath)
		}
	})
	return fmt.Sprintf("%d reads, each saw its own tenant's text alone", looks)
}

// write keeps a text that stands nowhere else in the member's tenant. It posts
// as a script of the product's page would.
func (c *check) write(m *member) (text string) {
	text = "conformance " + rand.Text()
	body := strings.NewReader(strings.ReplaceAll(c.writeBody, "%s", text))
	a := c.do(m.browser, c.request(http.MethodPost, c.at(c.writePath), body,
		"Content-Type", "application/json", "Origin", c.target.String(), "Sec-Fetch-Site", "same-origin"))
	switch {
	case a.status == http.StatusNotFound && c.writeGuessed:
		skip("there is no %s: name what the product keeps by --write-path, --write-body and --read-path", c.writePath)
	case !a.ok():
		fail("POST %s: %s (are --write-path and --write-body right?)", c.writePath, a)
	}
	return text
}

// read is all that the member sees at the read path.
func (c *check) read(m *member) string {
	a := c.get(m.browser, c.at(c.readPath))
	if !a.ok() {
		fail("GET %s: %s", c.readPath, a)
	}
	return string(a.body)
}
