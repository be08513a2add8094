package simulator

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"reflect"
	"strings"
	"time"
)

//go:embed assets
var assets embed.FS

// page is what a template gets. View is what this page alone shows.
type page struct {
	snapshot
	Title, Path string
	Bare        bool  // for the platform's users, not for the developer
	User        *User // signed in at the platform in this browser
	View        any
}

// parsePages reads every template, with what they use besides Go's own: times
// in the developer's zone, short durations, readable JSON.
func (p *Platform) parsePages() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"clock": func(t time.Time) template.HTML {
			return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, t.UTC().Format(time.RFC3339),
				t.Local().Format("2 January 2006 15:04:05 MST"), t.Local().Format("15:04:05")))
		},
		"day":    func(t time.Time) string { return t.Local().Format("2 Jan 2006") },
		"took":   func(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) },
		"newest": newest,
		"pretty": pretty,
		"tabs":   p.tabs,
		"query":  func(s string) template.URL { return template.URL(s) }, // a query that parseSSO has read
	}).ParseFS(assets, "assets/*.html"))
}

// newest returns at most n elements of a slice, the last first.
func newest(n int, list any) (out []any) {
	all := reflect.ValueOf(list)
	for i := all.Len() - 1; i >= 0 && len(out) < n; i-- {
		out = append(out, all.Index(i).Interface())
	}
	return out
}

// pretty indents JSON, and leaves anything else as it is.
func pretty(body string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(body), "", "  ") != nil {
		return strings.ToValidUTF8(body, "�")
	}
	return out.String()
}

// render writes a page, or nothing of it: a template's error is a clean 500.
func (p *Platform) render(w http.ResponseWriter, r *http.Request, status int, name, title string, view any) {
	data := page{p.snapshot(), title, r.URL.Path, name == "login", p.signedIn(r), view}
	var out bytes.Buffer
	if err := p.pages.ExecuteTemplate(&out, name+".html", data); err != nil {
		p.options.Logger.Error("simulator page", "page", name, "error", err)
		http.Error(w, "this page cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(out.Bytes())
}

// fail shows what is wrong, in words for the developer who reads it.
func (p *Platform) fail(w http.ResponseWriter, r *http.Request, status int, title string, err error) {
	p.render(w, r, status, "error", title, problem(err))
}

// problem is an error as a sentence.
func problem(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, ErrInvalid.Error()+": "); ok {
		text = after
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
