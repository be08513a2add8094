package server_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
)

// write makes a file of a source tree.
func write(t *testing.T, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// With a source tree, a changed page or style sheet shows at the next reload.
func TestLive_PagesAndAssetsAreReadAnew(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	write(t, source, "templates/layout.html", `<link href="{{asset "app.css"}}">{{template "main" .}}`)
	write(t, source, "templates/landing.html", `{{define "main"}}before{{end}}`)
	write(t, source, "static/app.css", "before")
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Serve: server.Options{Source: os.DirFS(source)}})
	b := site.Browser(t)
	sheet := func() string { return regexp.MustCompile(`/static/[^"]+`).FindString(b.Get("/").Body) }
	if first := sheet(); b.Get(first).Body != "before" || !strings.Contains(b.Get("/").Body, "before") {
		t.Fatalf("%s is %q", first, b.Get(first).Body)
	}
	first := sheet()
	write(t, source, "templates/landing.html", `{{define "main"}}after{{end}}`)
	write(t, source, "static/app.css", "after")
	if second := sheet(); second == first || b.Get(second).Body != "after" {
		t.Errorf("%s is %q; it was %s", second, b.Get(second).Body, first)
	}
	if page := b.Get("/"); !strings.Contains(page.Body, "after") {
		t.Errorf("the page is still %s", page.Body)
	}
}

// In development an error page says what the log says, and nowhere else.
func TestErrors_ShowTheirCauseInDevelopmentAlone(t *testing.T) {
	t.Parallel()
	failing := fixture.With(func(r server.Routes) {
		r.Public.GET("/fail", func(echo.Context) error { return errors.New("the <inner> reason") })
	})
	for _, show := range []bool{true, false} {
		site := handlertest.Start(t, failing, handlertest.Setup{Serve: server.Options{ShowCauses: show}})
		page := site.Browser(t).Get("/fail")
		if page.Status != http.StatusInternalServerError || strings.Contains(page.Body, "the &lt;inner&gt; reason") != show {
			t.Errorf("shown: %v, want %v: %d %s", !show, show, page.Status, page.Body)
		}
	}
}

// The product's table comes first, and a product's error needs no status of its
// own.
func TestErrors_TheProductsTableComesFirst(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	answer := site.SignIn(t, "acme").API(http.MethodDelete, "/api/items/7", "")
	if answer.Status != http.StatusNotFound || !strings.Contains(answer.Body, "There is no such item.") {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
}

// A log line has the route's pattern and never the path.
func TestLog_HasThePatternAndNotThePath(t *testing.T) {
	t.Parallel()
	var log handlertest.Log
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Log: &log})
	b := site.SignIn(t, "acme")
	b.Post("/items/4711471147114711/delete", nil) // no time or port has that many digits
	b.Get("/nothing-4711471147114711")
	handlertest.Await(t, "the requests are logged", func() bool {
		return strings.Contains(log.String(), `"route":"/items/:id/delete"`) && strings.Contains(log.String(), `"route":"/*"`)
	})
	if strings.Contains(log.String(), "4711471147114711") {
		t.Errorf("a path is logged:\n%s", log.String())
	}
}
