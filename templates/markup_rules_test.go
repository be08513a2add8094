package templates_test

import (
	"slices"
	"strings"
	"testing"
)

// assets are those of a product with a design and a script of its own.
var assets = looksOf(
	`/* .gone */ .card, .card.wide, .md\:flex { } .who { background: url(x.svg) }`,
	`document.querySelectorAll(".js-total")`,
)

func judged(t *testing.T, source string) []string {
	t.Helper()
	return faults(parseTemplates(t, "page.html", source), "page.html", assets)
}

func TestMarkup_WhatIsValidIsTaken(t *testing.T) {
	t.Parallel()
	for _, page := range []string{
		`very<wbr>long<br/><table><colgroup><col></colgroup></table><video><source src=/a/b.mp4><track></video><map><area></map>`,
		`<svg><path d="M0"/><circle r="1"/></svg><p title="a > b">1 < 2 & 3</p>`,
		`{{if .A}}<section class="card">{{else}}<section>{{end}}x</section>`,
		`{{if .A}}<a href="/">{{end}}x{{if .A}}</a>{{end}}`,
		`{{if not .A}}<p>{{end}}{{if .A}}<div>{{else}}</p><div>{{end}}</div>`,
		`{{if ne .A "x"}}<b>{{else}}<i>{{end}}x{{if eq .A "x"}}</i>{{else}}</b>{{end}}`,
		`{{if .A}}<p id="a">{{else if .B}}<p id="a">{{else}}<p id="a">{{end}}</p>`,
		`{{with .A}}<p id="a"></p>{{else}}<p id="a"></p>{{end}}{{range .L}}<p id="l"></p>{{else}}<p id="l"></p>{{end}}`,
		`{{range .L}}<p id="row-{{.ID}}"></p>{{end}}{{range .M}}<p id="row-{{.ID}}"></p>{{end}}`,
		`<label>Name <input id="n"></label><label>Kind <select id="k"><option>a</option></select></label>`,
		`<input id="q" aria-label="Search"><textarea name="t" title="Text"></textarea>`,
		`<input type="hidden" id="h"><input type="submit" id="s"><input id="x" {{.Attributes}}>`,
		`<h2 id="a">A</h2><p id="b">B</p><input id="i" aria-labelledby="a b">`,
		`{{range .Fields}}<label for="f-{{.Name}}">x</label><input id="f-{{.Name}}">{{end}}`,
		`{{if .Hint}}<p id="help"></p>{{end}}<input id="i" aria-label="I" {{if .Error}}aria-describedby="help"{{end}}>`,
		`<p class="card md:flex js-total ledger-{{.Kind}} {{if .A}}wide{{end}}"></p>`,
		`<script src="{{asset "x.js"}}" defer></script><script src="/static/y.js"></script>`,
		`<script type="application/json" id="rows">{{.Rows}}</script>`,
		`{{define "field"}}<input id="{{.}}">{{end}}<label for="a">A</label>{{template "field" "a"}}`,
	} {
		if found := judged(t, page); len(found) > 0 {
			t.Errorf("%s\n%s", page, strings.Join(found, "\n"))
		}
	}
}

func TestMarkup_WhatIsWrongIsFound(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		`<div><p>x</div>`:                      `</div> closes nothing`,
		`<section>x`:                           `never closed: [section]`,
		`<div/>`:                               `never closed: [div]`,
		`{{if .A}}<section>{{end}}x</section>`: `</section> closes nothing`,
		`{{if .A}}<b>{{else}}<i>{{end}}x</b>`:  `</b> closes nothing`,
		`{{if .A}}{{else if .B}}{{else}}{{with .C}}<p>{{end}}{{end}}`:          `never closed: [p]`,
		`{{if .A}}{{if not .B}}x{{else}}{{range .C}}<p>{{end}}{{end}}{{end}}`:  `never closed: [p]`,
		`{{define "part"}}<ul>{{end}}{{range .L}}{{template "part" .}}{{end}}`: `never closed: [ul]`,
		`<p id="a"></p>{{if .A}}<p id="a"></p>{{end}}`:                         `the id "a" is there twice`,
		`{{if .A}}{{if .B}}<p id="a"></p>{{end}}<p id="a"></p>{{end}}`:         `the id "a" is there twice`,
		`<input id="n">`:                                   `the field "n" has no label`,
		`<label>Name</label><input name="n">`:              `the field "n" has no label`,
		`<input id="n" type="date" aria-label="">`:         `the field "n" has no label`,
		`{{range .L}}<input id="f-{{.ID}}">{{end}}`:        `has no label`,
		`<label for="m">Name</label>`:                      `no element with the id "m"`,
		`<p id="a" aria-describedby="a b"></p>`:            `no element with the id "b"`,
		`<p class="crad"></p>`:                             `no style sheet has .crad`,
		`<p class="car"></p>`:                              `no style sheet has .car`,
		`<p class="gone"></p>`:                             `no style sheet has .gone`,
		`<p class="card{{if .A}} wied{{end}}"></p>`:        `no style sheet has .wied`,
		`<p style="color: red"></p>`:                       `<p style=…>`,
		`<button onclick="go()"></button>`:                 `<button onclick=…>`,
		`<style>p {}</style>`:                              `<style>`,
		`<script>go()</script>`:                            `<script>: the content`,
		`<script type="module">go()</script>`:              `<script>: the content`,
		`<script src="{{asset "x.js"}}">go()</script>`:     `<script>: the content`,
		`<script src="https://cdn.example/x.js"></script>`: `what is not of this server`,
		`<script src="//cdn.example/x.js"></script>`:       `what is not of this server`,
	} {
		found := judged(t, page)
		if !slices.ContainsFunc(found, func(fault string) bool { return strings.Contains(fault, want) }) {
			t.Errorf("%s\nfound %q, want %s", page, found, want)
		}
	}
}
