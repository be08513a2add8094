package conformance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"example.com/subproduct/handlers/dev/simulator"
)

const (
	answerLimit = 5 * time.Second // the contract's (section 8)
	waitLimit   = 6 * time.Second // how long to wait, to see by how much it is missed
	maxAnswer   = 4 << 20
)

var errNoAnswer = fmt.Errorf("no answer within %s", waitLimit)

// newBrowser is one that keeps cookies, runs no scripts and has not been
// anywhere.
func newBrowser() *http.Client {
	browser := simulator.NewClient()
	browser.Jar, _ = cookiejar.New(nil) // fails with options only
	return browser
}

// answer is a response, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration // until the header was there
	from   *url.URL
}

func (a answer) ok() bool { return a.status/100 == 2 }

func (a answer) String() string { return fmt.Sprintf("%d in %d ms", a.status, a.took.Milliseconds()) }

// inTime wants a 2xx within the contract's limit.
func (a answer) inTime() answer {
	switch {
	case !a.ok():
		fail("%s, not 2xx", a)
	case a.took > answerLimit:
		fail("%s, over %s", a, answerLimit)
	}
	return a
}

// get fetches an address as a browser does, and follows no redirect.
func (c *check) get(browser *http.Client, address string) answer {
	return c.do(browser, c.request(http.MethodGet, address, nil, "Accept", "text/html,application/json;q=0.9,*/*;q=0.8"))
}

func (c *check) request(method, address string, body io.Reader, headers ...string) *http.Request {
	request, err := http.NewRequestWithContext(c.ctx, method, address, body)
	must(err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return request
}

// follow fetches an address and whatever it redirects to at the target. Where
// a redirect leads elsewhere, that address is the second result.
func (c *check) follow(browser *http.Client, address string) (a answer, elsewhere *url.URL) {
	for range 10 {
		a = c.get(browser, address)
		next, err := a.from.Parse(a.header.Get("Location"))
		switch {
		case a.status/100 != 3 || err != nil || a.header.Get("Location") == "":
			return a, nil
		case next.Scheme != c.target.Scheme || next.Host != c.target.Host:
			return a, next
		}
		address = next.String()
	}
	fail("redirects in a circle")
	return a, nil
}

// do sends a request and reads the answer, within waitLimit. Its errors never
// carry the address, in which a code may stand.
func (c *check) do(client *http.Client, request *http.Request) answer {
	ctx, cancel := context.WithTimeoutCause(request.Context(), waitLimit, errNoAnswer)
	defer cancel()
	began := time.Now()
	response, err := client.Do(request.WithContext(ctx))
	must(simulator.Plain(ctx, err))
	defer response.Body.Close()
	a := answer{status: response.StatusCode, header: response.Header, took: time.Since(began), from: request.URL}
	a.body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	must(simulator.Plain(ctx, err))
	c.noteLeaks(a)
	return a
}

// noteLeaks notes an answer that carries what only the two servers may know.
func (w *walk) noteLeaks(a answer) {
	for _, secret := range []string{w.apiKey, w.secret} {
		if bytes.Contains(a.body, []byte(secret)) || strings.Contains(fmt.Sprint(a.header), secret) {
			w.mu.Lock()
			w.leaks = append(w.leaks, a.from.Path)
			w.mu.Unlock()
		}
	}
}
