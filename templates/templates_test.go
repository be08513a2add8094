package templates_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template/parse"
)

// folders are where pages are: the template's own, and over them the product's.
var folders = []string{"../handlers/server/pages", "."}

// Every page is judged as it is shown: in the layout, with the parts, by the
// style sheets and scripts of static/.
func TestPages_AreWellFormed(t *testing.T) {
	t.Parallel()
	known, paths := readLooks(t, "../static"), pagePaths(t)
	for name, path := range paths {
		if strings.HasPrefix(name, "_") {
			continue
		}
		t.Run(path, func(t *testing.T) {
			page := readTemplates(t, path)
			for _, part := range []string{"title", "main"} {
				if name != "layout.html" && page[part] == nil {
					t.Errorf("it defines no %q", part)
				}
			}
			for _, fault := range faults(shownWith(t, page, paths), "layout.html", known) {
				t.Error(fault)
			}
		})
	}
}

// pagePaths are the pages by name, a product's in place of the template's.
func pagePaths(t *testing.T) map[string]string {
	t.Helper()
	paths := map[string]string{}
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join(folder, "*.html"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			paths[filepath.Base(path)] = path
		}
	}
	return paths
}

// shownWith adds the layout and the parts, of which the page replaces what it
// defines itself.
func shownWith(t *testing.T, page map[string]*parse.Tree, paths map[string]string) map[string]*parse.Tree {
	t.Helper()
	all := map[string]*parse.Tree{}
	for name, path := range paths {
		if strings.HasPrefix(name, "_") {
			maps.Copy(all, readTemplates(t, path))
		}
	}
	maps.Copy(all, readTemplates(t, paths["layout.html"]))
	maps.Copy(all, page)
	return all
}

func readTemplates(t *testing.T, path string) map[string]*parse.Tree {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parseTemplates(t, filepath.Base(path), string(source))
}

// parseTemplates are the templates of a source, whatever functions it calls.
func parseTemplates(t *testing.T, name, source string) map[string]*parse.Tree {
	t.Helper()
	page, all := parse.New(name), map[string]*parse.Tree{}
	page.Mode = parse.SkipFuncCheck
	if _, err := page.Parse(source, "", "", all); err != nil {
		t.Fatal(err)
	}
	return all
}
