package generator

import (
	"embed"
	"fmt"
	"go/format"
	"strings"
	"text/template"
)

//go:embed source
var source embed.FS

// sources are what files are made from. Their marks are << and >>, for pages have
// marks of their own.
var sources = template.Must(template.New("").Delims("<<", ">>").ParseFS(source, "source/*.tmpl"))

// Files are the files that are made, by their path from the product's root;
// number is the migration's.
func (r Resource) Files(t Target, number int) (map[string]string, error) {
	r.Module, r.Product = t.Module, t.Product
	migration := fmt.Sprintf("schema/tenant/%06d_%s.", number, r.Table)
	made := map[string]string{}
	for path, name := range map[string]string{
		"handlers/" + r.File + ".go":           "pages.go.tmpl",
		"handlers/" + r.File + "_data.go":      "data.go.tmpl",
		"handlers/" + r.File + "_test.go":      "test.go.tmpl",
		"templates/" + r.File + ".html":        "list.html.tmpl",
		"templates/" + r.File + "_form.html":   "form.html.tmpl",
		"templates/" + r.File + "_show.html":   "show.html.tmpl",
		"templates/" + r.File + "_delete.html": "delete.html.tmpl",
		migration + "up.sql":                   "up.sql.tmpl",
		migration + "down.sql":                 "down.sql.tmpl",
	} {
		content, err := r.render(name)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(path, ".go") {
			formatted, err := format.Source([]byte(content))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			content = string(formatted)
		}
		made[path] = content
	}
	return made, nil
}

func (r Resource) render(name string) (string, error) {
	var out strings.Builder
	err := sources.ExecuteTemplate(&out, name, r)
	return out.String(), err
}
