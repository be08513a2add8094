package browser_test

import (
	"bytes"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/server"
)

// crowded is a page with more of everything than the sample has: entries in the
// header, text in a card, columns, and a word of 102 letters.
var crowded = `{{define "title"}}Crowded{{end}}{{define "main"}}
<nav class="grid">
  <a class="card go" href="/"><strong>A</strong><span>one line</span></a>
  <a class="card go" href="/"><strong>B</strong><span>` + words + words + `</span></a>
</nav>
<div class="scroll"><table class="table">
  <tr><th>Number</th><th>Customer</th><th>Amount</th><th class="end">Added</th><th class="end"><span class="hidden">Actions</span></th></tr>
  <tr><td>` + word + `</td><td>Acme Company</td><td>1200.00</td><td class="end">2 Jan 2026, 15:04 UTC</td><td class="end">Open</td></tr>
</table></div>
<section class="hero"><pre>` + word + word + `</pre></section><pre class="log">` + word + word + `</pre>
{{end}}`

const words = "Some words that go on and on, for a line or two. "

var (
	word   = strings.Repeat("a", 102)
	header = `<header class="top"><div class="wrap"><a class="brand" href="/">Crowded</a>
		<nav>` + strings.Repeat(`<a href="/">Customers</a>`, 7) + `</nav>
		<div class="who"><span class="email">owner@acme-company.example</span><span class="chip">acme</span>
		<form method="post" action="/logout"><button class="quiet small">Sign out</button></form></div></div></header>`
)

// The design that a product begins with bears a crowded page. One that has
// replaced it is not judged.
func TestDesign_BearsACrowdedPage(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("../../../static/app.css")
	for _, class := range []string{".scroll {", ".hidden {", ".who {", ".go {", ".log"} {
		if err != nil || !bytes.Contains(css, []byte(class)) {
			t.Skip("static/app.css has another design")
		}
	}
	site := handlertest.Start(t, server.Product{
		Name: "Crowded", Slug: "crowded", Static: fstest.MapFS{"app.css": {Data: css}},
		Templates: fstest.MapFS{
			"crowded.html": {Data: []byte(crowded)},
			"layout.html": {Data: []byte(`<!doctype html><meta name="viewport" content="width=device-width, initial-scale=1">
				<link rel="stylesheet" href="{{asset "app.css"}}">` + header + `<main class="wrap stack">{{template "main"}}</main>`)},
		},
		Routes: func(r server.Routes) {
			r.Public.GET("/", func(c echo.Context) error { return c.Render(http.StatusOK, "crowded.html", nil) })
		},
	}, handlertest.Setup{})
	p := newPerson(t, site, "/favicon.ico")
	for _, width := range []int64{1200, 390} {
		p.look(width, 860, "light")
		p.open(site.URL + "/")
		for what, fits := range map[string]string{
			"the page":         `document.documentElement.scrollWidth <= innerWidth`,
			"Sign out":         `document.querySelector("header").getBoundingClientRect().bottom - document.querySelector("button").getBoundingClientRect().bottom > 6`,
			"a card's text":    `[...document.querySelectorAll(".go span")].every(s => s.offsetTop - s.previousElementSibling.offsetTop < 36)`,
			"a word of a cell": `document.querySelector("td").offsetWidth <= innerWidth * .6 + 1`,
			"a long cause":     `[...document.querySelectorAll("pre")].every(p => p.scrollWidth <= p.clientWidth)`,
		} {
			if !ask[bool](p, fits) {
				t.Errorf("at %d pixels, %s has no room", width, what)
			}
		}
	}
}
