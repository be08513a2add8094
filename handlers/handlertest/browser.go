package handlertest

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// Browser keeps cookies and, unless told otherwise, does not follow redirects.
type Browser struct {
	t      testing.TB
	site   *Site
	Client *http.Client
}

// URL is the address of the browser's site.
func (b *Browser) URL() string { return b.site.URL }

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

// File is a file of a form.
type File struct{ Field, Name, Content string }

// PostMultipart sends a form with files.
func (b *Browser) PostMultipart(path string, form url.Values, files ...File) Answer {
	b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	var err error
	for name, values := range form {
		for _, v := range values {
			err = errors.Join(err, w.WriteField(name, v))
		}
	}
	for _, f := range files {
		part, partErr := w.CreateFormFile(f.Field, f.Name)
		if partErr == nil {
			_, partErr = io.WriteString(part, f.Content)
		}
		err = errors.Join(err, partErr)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		b.t.Fatal(err)
	}
	return b.Do(http.MethodPost, path, &body, http.Header{
		"Content-Type": {w.FormDataContentType()}, "Sec-Fetch-Site": {"same-origin"}, "Accept": {"text/html"},
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
