package server_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/server"
)

// A product that has a name and nothing else migrates, serves, and signs
// people in; every page of the template's own can be shown.
func TestProduct_OfNothingIsServed(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, server.Product{Name: "Nothing", Slug: "nothing"}, handlertest.Setup{})
	b := site.SignIn(t, "acme")
	if b.User() != "u-acme" {
		t.Error("nobody is signed in")
	}
	for path, want := range map[string]int{"/sessions": http.StatusOK, "/": http.StatusNotFound} {
		page := b.Get(path)
		if page.Status != want || !strings.Contains(page.Body, "Nothing</title>") {
			t.Errorf("%s: %d %s", path, page.Status, page.Body)
		}
	}
}
