package server_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
)

// shown is the page with the data, as the product shows it.
func shown(t *testing.T, p server.Product, page string, data any) string {
	t.Helper()
	routes := p.Routes
	p.Routes = func(r server.Routes) {
		routes(r)
		r.Public.GET("/shown", func(c echo.Context) error { return c.Render(http.StatusOK, page, data) })
	}
	return handlertest.Start(t, p, handlertest.Setup{}).Browser(t).Get("/shown").Body
}

func TestPages_PreparingMovesOn(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"/sso/callback?a=1&b=2": `content="2;url=/sso/callback?a=1&amp;b=2"`,
		"javascript:alert(1)":   `content="2;url=#ZgotmplZ"`,
	} {
		if page := shown(t, fixture.Product(), "preparing.html", struct{ Tenant, URL string }{"acme", url}); !strings.Contains(page, want) {
			t.Errorf("%s: want %s in\n%s", url, want, page)
		}
	}
}

// A page of the product's replaces the template's of the same name.
func TestPages_AProductReplacesThem(t *testing.T) {
	t.Parallel()
	p := fixture.Product()
	p.Templates = fstest.MapFS{
		"layout.html":    {Data: []byte(`{{template "main" .}}`)},
		"preparing.html": {Data: []byte(`{{define "main"}}one moment, {{.Data.Tenant}}{{end}}`)},
	}
	if page := shown(t, p, "preparing.html", struct{ Tenant, URL string }{"acme", "/"}); page != "one moment, acme" {
		t.Errorf("the page is %q", page)
	}
}

// An error page of a product's own has what README.md says.
func TestPages_AnErrorPageOfAProductsOwn(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`(?s)- An .error\.html. of your own.*?\n- `).Find(readme)
	fields := regexp.MustCompile("`(\\.[A-Z][A-Za-z.]+)`").FindAllStringSubmatch(string(said), -1)
	page := `{{define "main"}}`
	for _, field := range fields {
		page += "[{{" + field[1] + "}}]"
	}
	p := fixture.Product()
	p.Templates = fstest.MapFS{"layout.html": {Data: []byte(`{{template "main" .}}`)}, "error.html": {Data: []byte(page + `{{end}}`)}}
	answer := handlertest.Start(t, p, handlertest.Setup{}).Browser(t).Get("/nowhere")
	want := "[404][Not Found][There is nothing at this address.][][][][][Fixture][/nowhere][]["
	if len(fields) < 11 || !strings.HasPrefix(answer.Body, want) {
		t.Errorf("%d fields; the page is %q, want %q", len(fields), answer.Body, want)
	}
}
