package handlertest

import (
	"encoding/json"
	"net/http"
	"testing"
)

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
