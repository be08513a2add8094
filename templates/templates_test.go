package templates_test

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template/parse"
)

// folders are where pages are: the product's here, and the template's own.
var folders = []string{".", "../handlers/server/pages"}

// defined are the templates that a page defines, whatever functions it calls.
func defined(t *testing.T, path string) map[string]*parse.Tree {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page, all := parse.New(path), map[string]*parse.Tree{}
	page.Mode = parse.SkipFuncCheck
	if _, err := page.Parse(string(src), "", "", all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPages_AreWellFormed(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("../static/app.css")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, folder := range folders {
		pages, err := filepath.Glob(filepath.Join(folder, "*.html"))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			t.Run(page, func(t *testing.T) {
				all := defined(t, page)
				if name := filepath.Base(page); name != "layout.html" && !strings.HasPrefix(name, "_") {
					for _, part := range []string{"title", "main"} {
						if all[part] == nil {
							t.Errorf("it defines no %q", part)
						}
					}
				}
				checkMarkup(t, page, string(css))
			})
		}
	}
}

var (
	action = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	void   = []string{"meta", "link", "img", "input", "br", "hr"}
)

// checkMarkup holds a page against what a browser would forgive or a user would
// miss: tags that do not match, things the content security policy drops in
// silence, fields without a label, classes that app.css does not know.
func checkMarkup(t *testing.T, page, css string) {
	t.Helper()
	src, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var open, ids, fields, labels, refs []string
	d := xml.NewDecoder(strings.NewReader(action.ReplaceAllString(string(src), " ")))
	d.Strict, d.Entity = false, xml.HTMLEntity
	for {
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch el := tok.(type) {
		case xml.StartElement:
			name := el.Name.Local
			if !slices.Contains(void, name) {
				open = append(open, name)
			}
			if name == "script" || name == "style" {
				t.Errorf("<%s>: the content security policy drops it", name)
			}
			for _, a := range el.Attr {
				switch key := a.Name.Local; {
				case key == "style" || strings.HasPrefix(key, "on"):
					t.Errorf("<%s %s=…>: the content security policy drops it", name, key)
				case key == "id":
					if slices.Contains(ids, a.Value) {
						t.Errorf("the id %q is there twice", a.Value)
					}
					ids = append(ids, a.Value)
					if slices.Contains([]string{"input", "select", "textarea"}, name) {
						fields = append(fields, a.Value)
					}
				case key == "for":
					labels = append(labels, a.Value)
				case key == "aria-describedby" || key == "aria-labelledby":
					refs = append(refs, a.Value)
				case key == "class":
					for _, class := range strings.Fields(a.Value) {
						if css != "" && !regexp.MustCompile(`\.`+class+`\b`).MatchString(css) {
							t.Errorf("app.css has no .%s", class)
						}
					}
				}
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != el.Name.Local {
				t.Fatalf("</%s> closes nothing; open: %v", el.Name.Local, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("never closed: %v", open)
	}
	for _, id := range fields {
		if !slices.Contains(labels, id) {
			t.Errorf("the field %q has no label", id)
		}
	}
	for _, id := range append(labels, refs...) {
		if !slices.Contains(ids, id) {
			t.Errorf("there is no element with the id %q", id)
		}
	}
}
