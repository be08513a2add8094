package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing/iotest"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/platform"
)

func checkCreated(c *check) string {
	return c.accept(c.event(created, c.newTenant().Tenant)).String()
}

func checkCancelled(c *check) (seen string) {
	m := c.newMember()
	during("subscription.created", func() { c.accept(m.event) })
	seen = c.accept(c.event(cancelled, m.user.Tenant)).String()
	during("of an unknown tenant", func() { c.accept(c.event(cancelled, c.newTenant().Tenant)) })
	return seen
}

func checkUnknownType(c *check) string {
	return c.accept(c.event("invoice.conformance-"+c.run, c.anyUser().Tenant)).String()
}

func checkLarge(c *check) string {
	object := c.fields(created, c.anyUser().Tenant)
	object["padding"] = strings.Repeat("x", 900<<10)
	a := c.deliver(encode(object))
	if a.status != http.StatusRequestEntityTooLarge || a.took > answerLimit {
		a.inTime()
	}
	c.staysHealthy()
	return a.String()
}

// declines delivers what is no event: a 2xx would acknowledge what cannot have
// been read, a 5xx is a fault of the receiver.
func declines(body string) func(*check) string {
	return func(c *check) string {
		a := c.deliver([]byte(body))
		if a.status/100 != 4 {
			fail("answered %s, not 4xx", a)
		}
		c.staysHealthy()
		return a.String()
	}
}

// namedBody is an unusual body to deliver.
type namedBody struct {
	name string
	body []byte
}

// each delivers the bodies one after another and stops with all that fail.
func (c *check) each(bodies []namedBody, deliver func(body []byte)) {
	var wrong []string
	for _, b := range bodies {
		if err := try(func() { deliver(b.body) }); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", b.name, err))
		}
	}
	failAll(wrong)
}

func checkOddJSON(c *check) string {
	bodies := []namedBody{
		{"a byte order mark", append([]byte("\ufeff"), c.event(created, c.anyUser().Tenant)...)},
		{"an array", []byte(`[]`)}, {"null", []byte(`null`)}, {"a string", []byte(`"subscription.created"`)}, {"a number", []byte(`7`)},
		{"no type", []byte(`{}`)}, {"an empty type", []byte(`{"eventType":""}`)}, {"a number as type", []byte(`{"eventType":7}`)},
		{"an object as type", []byte(`{"eventType":{"a":[1]}}`)}, {"null as type", []byte(`{"eventType":null}`)},
		{"no tenant", []byte(`{"eventType":"conformance.nothing"}`)},
		{"bytes that are no UTF-8", []byte("{\"eventType\":\"\xff\xfe\"}")},
		{"50,000 brackets", bytes.Repeat([]byte("["), 50_000)},
	}
	c.each(bodies, func(body []byte) {
		if a := c.deliver(body); a.status >= http.StatusInternalServerError || a.took > answerLimit {
			must(errors.New(a.String()))
		}
	})
	c.staysHealthy()
	return fmt.Sprintf("%d bodies, no 5xx", len(bodies))
}

// checkCutOff sends half of a cancellation under the signature of all of it.
func checkCutOff(c *check) string {
	m := c.member("first")
	body := c.event(cancelled, m.user.Tenant)
	request := c.delivery(bytes.NewReader(body), platform.Sign(c.secret, body)) // which sets the length
	request.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:len(body)/2]), iotest.ErrReader(errors.New("cut off"))))
	var a answer
	if err := try(func() { a = c.do(simulator.NewClient(), request) }); err == nil && a.ok() {
		fail("half of an event was answered %s", a)
	}
	c.stays(m)
	c.staysHealthy()
	return "not processed"
}
