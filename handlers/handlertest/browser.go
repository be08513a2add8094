package handlertest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/simulator"
)

// Browser keeps cookies and, unless told otherwise, does not follow redirects.
type Browser struct {
	t      testing.TB
	site   *Site
	Client *http.Client
}

// URL is the address of the browser's site.
func (b *Browser) URL() string { return b.site.URL }

// Answer is a response, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Location is where a redirect leads.
func (a Answer) Location() string { return a.Header.Get("Location") }

// Cookie is the cookie of that name that the answer sets, or nil.
func (a Answer) Cookie(name string) *http.Cookie {
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// JSON decodes the body.
func (a Answer) JSON(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.Body), into); err != nil {
		t.Fatalf("%v in %q", err, a.Body)
	}
}

// Browser returns a browser that has not been here before.
func (s *Site) Browser(t testing.TB) *Browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(client.CloseIdleConnections)
	return &Browser{t: t, site: s, Client: client}
}

// At is the same browser, with its cookies, at another replica.
func (b *Browser) At(site *Site) *Browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	from, _ := url.Parse(b.site.URL)
	to, _ := url.Parse(site.URL)
	jar.SetCookies(to, b.Client.Jar.Cookies(from))
	client := *b.Client
	client.Jar = jar
	return &Browser{t: b.t, site: site, Client: &client}
}

// Subscribe has the platform create a subscription for a tenant with one user,
// whose id is "u-" and the slug, and deliver the event.
func (s *Site) Subscribe(t testing.TB, slug string) {
	t.Helper()
	s.Platform.AddTenant(slug, slug, "", simulator.User{ID: "u-" + slug, Email: "user@" + slug + ".example"})
	delivery, err := s.Platform.Subscribe(t.Context(), slug, "Pro")
	if err != nil || delivery.Status != simulator.DeliveryDelivered {
		t.Fatalf("subscription of %s: %+v, %v", slug, delivery.Attempts, err)
	}
}

// SignIn subscribes a tenant unless it is, and returns a browser in which its
// user is signed in.
func (s *Site) SignIn(t testing.TB, slug string) *Browser {
	t.Helper()
	if !slices.ContainsFunc(s.Platform.Tenants(), func(t simulator.Tenant) bool { return t.Slug == slug }) {
		s.Subscribe(t, slug)
	}
	b := s.Browser(t)
	if answer := b.Callback("u-" + slug); answer.Status != http.StatusSeeOther {
		t.Fatalf("sign-in of %s: %d %s", slug, answer.Status, answer.Body)
	}
	return b
}

// Callback comes back from the platform with a fresh code for the user.
func (b *Browser) Callback(userID string) Answer {
	b.t.Helper()
	code, err := b.site.Platform.IssueCode(userID)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.Get("/sso/callback?code=" + url.QueryEscape(code))
}

// Get fetches a path of the site, as a browser does.
func (b *Browser) Get(path string) Answer { b.t.Helper(); return b.Do(http.MethodGet, path, nil, nil) }

// Post sends a form.
func (b *Browser) Post(path string, form url.Values) Answer {
	b.t.Helper()
	return b.Do(http.MethodPost, path, strings.NewReader(form.Encode()), http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}, "Accept": {"text/html"},
	})
}

// Token is the session's cookie; empty when there is none.
func (b *Browser) Token() string {
	b.t.Helper()
	address, err := url.Parse(b.site.URL)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.Client.Jar.Cookies(address) {
		if c.Name == "session" {
			return c.Value
		}
	}
	return ""
}

// User is the id of who is signed in; empty when nobody is.
func (b *Browser) User() string {
	b.t.Helper()
	answer := b.API(http.MethodGet, "/api/me", "")
	if answer.Status != http.StatusOK {
		return ""
	}
	var me struct{ UserID string }
	answer.JSON(b.t, &me)
	return me.UserID
}

// API sends JSON; body may be empty.
func (b *Browser) API(method, path, body string) Answer {
	b.t.Helper()
	return b.Do(method, path, strings.NewReader(body), http.Header{"Content-Type": {"application/json"}})
}

// Do sends any request to the site.
func (b *Browser) Do(method, path string, body io.Reader, header http.Header) Answer {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, b.site.URL+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := b.Client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return Answer{response.StatusCode, response.Header, string(content)}
}
