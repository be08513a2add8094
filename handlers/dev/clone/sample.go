package clone

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
)

// sampleFiles are the sample's own: the resource notes.
var sampleFiles = []string{"handlers/notes*.go", "templates/notes*.html", "schema/tenant/*_notes*.sql"}

// sampleLinks are the links to it in other pages.
var sampleLinks = regexp.MustCompile(`(?s)[ \t]*<a [^>]*href="/notes\b[^>]*>.*?</a>\n`)

// dropSample takes the sample's files away, and its traces elsewhere: the lines
// of the product's code that use what those files declare, and the links.
func (t tree) dropSample() error {
	declared := map[string]bool{}
	for name, f := range t {
		if !ofSample(name) {
			continue
		}
		if err := declares(name, f.content, declared); err != nil {
			return err
		}
		delete(t, name)
	}
	for name, f := range t {
		var err error
		switch dir := path.Dir(name); {
		case dir == "handlers" && path.Ext(name) == ".go":
			f.content, err = withoutUses(name, f.content, declared)
		case dir == "templates" && path.Ext(name) == ".html":
			f.content = sampleLinks.ReplaceAll(f.content, nil)
		}
		if err != nil {
			return err
		}
		t[name] = f
	}
	return nil
}

func ofSample(name string) bool {
	for _, pattern := range sampleFiles {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return false
}

// declares adds the names that a file of the package declares. Those of a
// test's are not seen by other files.
func declares(name string, content []byte, names map[string]bool) error {
	if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
		return nil
	}
	_, parsed, err := parse(name, content)
	if err != nil {
		return err
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names[d.Name.Name] = names[d.Name.Name] || d.Recv == nil
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						names[n.Name] = true
					}
				}
			}
		}
	}
	return nil
}
