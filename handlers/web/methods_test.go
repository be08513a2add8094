package web_test

import (
	"net/http"
	"regexp"
	"testing"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
)

func TestMethods_AnotherIs405BeforeSignIn(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.Browser(t)
	for _, c := range []struct{ method, path, allow string }{
		{"PUT", "/items", "GET, HEAD, POST"}, {"GET", "/items/1/delete", "POST"}, {"POST", "/api/items/1", "DELETE"},
		{"PATCH", "/api/me", "GET, HEAD"}, {"GET", "/logout", "POST"}, {"GET", "/webhooks/platform", "POST"},
		{"DELETE", "/healthz", "GET, HEAD"}, {"OPTIONS", "/", "GET, HEAD"}, {"POST", "/static/x.css", "GET, HEAD"},
	} {
		answer := b.Do(c.method, c.path, nil, nil)
		if answer.Status != http.StatusMethodNotAllowed || answer.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q, want 405 and %q", c.method, c.path, answer.Status, answer.Header.Get("Allow"), c.allow)
		}
	}
	for _, path := range []string{"/nothing", "/items/1/nothing", "/api/nothing"} {
		if answer := b.Do(http.MethodPut, path, nil, nil); answer.Status != http.StatusNotFound || answer.Header.Get("Allow") != "" {
			t.Errorf("%s: %d, Allow %q", path, answer.Status, answer.Header.Get("Allow"))
		}
	}
}

func TestMethods_HeadAnswersWhereGetDoes(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	sheet := regexp.MustCompile(`/static/[^"]+\.css`).FindString(b.Get("/").Body)
	for _, path := range []string{"/", "/items", "/api/items", "/api/me", "/sessions", "/healthz", "/livez", "/readyz", "/login", sheet, "/nothing"} {
		get, head := b.Get(path), b.Do(http.MethodHead, path, nil, nil)
		if head.Status != get.Status || head.Body != "" || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") && get.Status == http.StatusOK {
			t.Errorf("%s: %d %v, and GET %d", path, head.Status, head.Header, get.Status)
		}
	}
	if answer := site.Browser(t).Do(http.MethodHead, "/items", nil, nil); answer.Status != http.StatusSeeOther {
		t.Errorf("HEAD without a session: %d", answer.Status)
	}
}
