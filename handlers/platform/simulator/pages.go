package simulator

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var assets embed.FS

// page is what the layout shows around every view.
type page struct {
	Title string
	View  any
}

// parsePages reads every template once, each together with the layout.
func parsePages() (map[string]*template.Template, error) {
	layout, err := template.New("layout.html").ParseFS(assets, "assets/layout.html")
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
		if !isPage || name == "layout" {
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

// render writes a page, or nothing of it: a template's error is a clean 500.
func (p *Platform) render(w http.ResponseWriter, r *http.Request, status int, name, title string, view any) {
	var out bytes.Buffer
	if err := p.pages[name].Execute(&out, page{Title: title, View: view}); err != nil {
		p.log.Error("simulator page", "page", name, "error", err)
		http.Error(w, "this page cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(out.Bytes())
}

// fail shows what is wrong, in words for the developer who reads it.
func (p *Platform) fail(w http.ResponseWriter, status int, title string, err error) {
	p.render(w, nil, status, "error", title, fmt.Sprint(err))
}
