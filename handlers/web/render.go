package web

import (
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

const layout = "layout.html"

// Page is what every template is given.
type Page struct {
	Product   string
	Path      string
	User      any    // nil when nobody is signed in
	Flash     string // what the page before has left to be said
	RequestID string
	Data      any // what the handler passed to Render

	plan string // of who is signed in, for HasPlan
}

// In reports whether the page is at the path or beneath it.
func (p Page) In(path string) bool { return p.Path == path || strings.HasPrefix(p.Path, path+"/") }

// Renderer is Echo's renderer: c.Render(status, "notes.html", data) shows data
// in that page, inside the layout. Files named _*.html are no pages but parts,
// which every page may show: {{template "_part.html" .}}. Echo renders into a
// buffer, so an error in a template is a clean 500.
type Renderer struct {
	product string
	user    func(echo.Context) any
	pages   map[string]*template.Template
	parse   func(name string) (*template.Template, error)
	live    bool
}

// NewRenderer parses every page of fsys, so that a broken one is an error at
// start. own are the functions of the product's pages. With live, pages are
// parsed anew each time: for development.
func NewRenderer(fsys fs.FS, assets *Assets, product string, own template.FuncMap, live bool, user func(echo.Context) any) (*Renderer, error) {
	funcs := template.FuncMap{"asset": assets.URL, "date": date}
	maps.Copy(funcs, own)
	r := &Renderer{product: product, user: user, pages: map[string]*template.Template{}, live: live}
	r.parse = func(name string) (*template.Template, error) {
		parts, err := fs.Glob(fsys, "_*.html")
		if err != nil {
			return nil, err
		}
		return template.New(layout).Funcs(funcs).ParseFS(fsys, append(parts, layout, name)...)
	}
	names, err := fs.Glob(fsys, "*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if name == layout || strings.HasPrefix(name, "_") {
			continue
		}
		if r.pages[name], err = r.parse(name); err != nil {
			return nil, fmt.Errorf("template %s: %w", name, err)
		}
	}
	return r, nil
}

// Render implements echo.Renderer.
func (r *Renderer) Render(w io.Writer, name string, data any, c echo.Context) (err error) {
	page, ok := r.pages[name]
	if !ok {
		return fmt.Errorf("no template %s", name)
	}
	if r.live {
		if page, err = r.parse(name); err != nil {
			return err
		}
	}
	plan, _ := c.Get(planKey).(string)
	return page.Execute(w, Page{
		Product: r.product, Path: c.Request().URL.Path, User: r.user(c), RequestID: RequestID(c), Flash: takeFlash(c), Data: data,
		plan: plan,
	})
}

// date is a moment as a <time> element.
func date(t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, t.Format(time.RFC3339), t.Format("2 Jan 2006, 15:04 UTC"))) //nolint:gosec // digits and month names
}
