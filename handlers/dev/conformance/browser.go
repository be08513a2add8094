package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"
)

const (
	answerLimit = 5 * time.Second // the contract's (section 8)
	waitLimit   = 6 * time.Second // how long to wait, to see by how much it is missed
	maxAnswer   = 4 << 20
)

var errNoAnswer = fmt.Errorf("no answer within %s", waitLimit)

// browser keeps cookies and runs no scripts.
type browser struct {
	w       *walk
	cookies http.CookieJar
}

func newJar() http.CookieJar {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err) // never, without options
	}
	return jar
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

func (a answer) String() string {
	return fmt.Sprintf("%d in %d ms", a.status, a.took.Milliseconds())
}

// get fetches an address and follows no redirect.
func (b *browser) get(ctx context.Context, address string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return answer{}, err
	}
	return b.do(request)
}

// postJSON sends a document, as a script of the page would.
func (b *browser) postJSON(ctx context.Context, address, body string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Origin", b.w.target.String())
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.do(request)
}

func (b *browser) do(request *http.Request) (answer, error) {
	client := *server
	client.Jar = b.cookies
	request.Header.Set("Accept", "text/html,application/json;q=0.9,*/*;q=0.8")
	return b.w.do(&client, request)
}

// follow fetches an address and whatever it redirects to at the target. Where
// a redirect leads elsewhere, that address is the second result.
func (b *browser) follow(ctx context.Context, address string) (a answer, elsewhere *url.URL, err error) {
	for range 10 {
		if a, err = b.get(ctx, address); err != nil || a.status/100 != 3 {
			return a, nil, err
		}
		next, err := a.from.Parse(a.header.Get("Location"))
		if err != nil || a.header.Get("Location") == "" {
			return a, nil, nil
		}
		if next.Scheme != b.w.target.Scheme || next.Host != b.w.target.Host {
			return a, next, nil
		}
		address = next.String()
	}
	return a, nil, errors.New("redirects in a circle")
}

// do sends a request and reads the answer, within waitLimit. Its errors never
// carry the address, in which a code may stand.
func (w *walk) do(client *http.Client, request *http.Request) (a answer, err error) {
	ctx, cancel := context.WithTimeoutCause(request.Context(), waitLimit, errNoAnswer)
	defer cancel()
	began := time.Now()
	response, err := client.Do(request.WithContext(ctx))
	if err != nil {
		return a, plain(ctx, err)
	}
	defer response.Body.Close()
	a = answer{status: response.StatusCode, header: response.Header, took: time.Since(began), from: request.URL}
	if a.body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer)); err != nil {
		return a, plain(ctx, err)
	}
	w.look(a)
	return a, nil
}

// look notes an answer that carries what only the two servers may know.
func (w *walk) look(a answer) {
	for _, secret := range []string{w.apiKey, w.secret} {
		if bytes.Contains(a.body, []byte(secret)) || strings.Contains(fmt.Sprint(a.header), secret) {
			w.mu.Lock()
			w.leaks = append(w.leaks, a.from.Path)
			w.mu.Unlock()
		}
	}
}

func plain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errNoAnswer) {
		return cause
	}
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

func timedOut(err error) bool { return errors.Is(err, errNoAnswer) }
