package simulator

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed assets
var assets embed.FS

// page is what the layout shows around every view.
type page struct {
	Title    string
	Path     string
	Bare     bool // for the platform's users, not for the developer
	Product  string
	User     *User // signed in at the platform in this browser
	Broken   []string
	Revision int
	View     any
}

// parsePages reads every template once, each together with the layout and the
// parts that several share.
func parsePages() (map[string]*template.Template, error) {
	layout, err := template.New("layout.html").Funcs(pageFuncs()).ParseFS(assets, "assets/layout.html", "assets/parts.html")
	if err != nil {
		return nil, err
	}
	files, err := assets.ReadDir("assets")
	if err != nil {
		return nil, err
	}
	pages := map[string]*template.Template{}
	for _, file := range files {
		name, isPage := strings.CutSuffix(file.Name(), ".html")
		if !isPage || name == "layout" || name == "parts" {
			continue
		}
		own, err := layout.Clone()
		if err != nil {
			return nil, err
		}
		if pages[name], err = own.ParseFS(assets, path.Join("assets", file.Name())); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// pageFuncs are what the templates know besides Go's own: times in the
// developer's zone, lengths of time, the colour of a status, readable JSON.
func pageFuncs() template.FuncMap {
	return template.FuncMap{
		"clock": func(t time.Time) template.HTML {
			return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, t.UTC().Format(time.RFC3339),
				t.Local().Format("2 January 2006 15:04:05 MST"), t.Local().Format("15:04:05")))
		},
		"day":    func(t time.Time) string { return t.Local().Format("2 Jan 2006") },
		"took":   took,
		"last":   func(all []Attempt) Attempt { return all[len(all)-1] },
		"colour": colour,
		"pretty": pretty,
		"tab": func(p page, path, name string) map[string]any {
			return map[string]any{"Path": path, "Name": name, "Here": p.Path == path}
		},
		"query": func(s string) template.URL { return template.URL(s) }, // a query that parseSSO has read
	}
}

// took is a length of time in few digits.
func took(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// colour is the style sheet's class for a status.
func colour(status string) string {
	switch status {
	case StatusActive, DeliveryDelivered, InvoiceApproved, OrderPaid:
		return "ok"
	case StatusPaused, DeliveryPending, InvoiceRequested:
		return "warn"
	case StatusCancelled, DeliveryFailed:
		return "bad"
	}
	return ""
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
	data := page{Title: title, Path: r.URL.Path, Bare: name == "login", View: view}
	if user, ok := p.signedIn(r); ok {
		data.User = &user
	}
	p.mu.Lock()
	data.Product = cmp.Or(p.state.Product.Name, p.state.Product.Slug, "no product yet")
	data.Broken, data.Revision = p.faults.Broken(), p.revision
	p.mu.Unlock()
	var out bytes.Buffer
	if err := p.pages[name].Execute(&out, data); err != nil {
		p.log.Error("simulator page", "page", name, "error", err)
		http.Error(w, "this page cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(out.Bytes())
}

// fail shows what is wrong, in words for the developer who reads it.
func (p *Platform) fail(w http.ResponseWriter, r *http.Request, status int, title string, err error) {
	p.render(w, r, status, "error", title, failure{title, problem(err)})
}

// failure is the page that says so.
type failure struct{ Title, Text string }

// asset serves the console's own files.
func asset(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, assets, path.Join("assets", "files", r.PathValue("name")))
}
