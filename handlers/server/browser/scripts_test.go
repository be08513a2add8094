package browser_test

import (
	"bytes"
	"net/http"
	"os"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/server"
)

// recipe is the block of RECIPES.md in that language which has the text.
func recipe(t *testing.T, language, text string) []byte {
	t.Helper()
	all, err := os.ReadFile("../RECIPES.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(all, -1) {
		if bytes.Contains(m[1], []byte(text)) {
			return m[1]
		}
	}
	t.Fatalf("RECIPES.md has no %s with %q", language, text)
	return nil
}

// scripted is a product with the page and the script of the recipe.
func scripted(t *testing.T, scripts bool) server.Product {
	t.Helper()
	return server.Product{
		Name: "Invoices", Slug: "invoices", Scripts: scripts,
		Templates: fstest.MapFS{"invoice.html": {Data: append([]byte(`{{define "title"}}Invoice{{end}}`), recipe(t, "html", "total.js")...)}},
		Static:    fstest.MapFS{"total.js": {Data: recipe(t, "js", "js-total")}},
		Routes: func(r server.Routes) {
			r.Public.GET("/", func(c echo.Context) error { return c.Render(http.StatusOK, "invoice.html", "2026-7") })
			r.Public.GET("/api/invoices/:number", func(c echo.Context) error {
				return c.JSON(http.StatusOK, map[string]string{"total": "12.50 for " + c.Param("number")})
			})
		},
	}
}

func TestBrowser_AProductsScriptRuns(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, scripted(t, true), handlertest.Setup{})
	p := newPerson(t, site, "/favicon.ico")
	p.open(site.URL + "/")
	p.sees("12.50 for 2026-7")
}

func TestBrowser_NoScriptRunsUnlessTheProductSaysSo(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, scripted(t, false), handlertest.Setup{})
	p := newPerson(t, site, site.URL) // the browser says that it was refused
	p.open(site.URL + "/")
	p.there(".js-total")
	p.doesNotSee("12.50")
}
