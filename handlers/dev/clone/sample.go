package clone

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strings"

	"golang.org/x/mod/module"
)

// What the sample is: the files of the resource notes, the lines that name it in
// the product's other code, the links to it in other pages, and what Markdown says
// of it between marks.
var (
	sampleFile  = regexp.MustCompile(`^(handlers/notes\w*\.go|templates/notes\w*\.html|schema/tenant/\d+_notes\w*\.(up|down)\.sql)$`)
	sampleLines = regexp.MustCompile(`(?m)^[\t ]*([^\s/].*)?[nN]ote.*\n`)
	sampleLinks = regexp.MustCompile(`(?s)[\t ]*<a [^>]*href="/notes\b[^>]*>.*?</a>\n`)
	sampleOnly  = regexp.MustCompile(`(?ms)^[^\n]*\[sample only.*?sample only\][^\n]*\n\n?`)
)

// dropSample takes the sample away.
func (t tree) dropSample() (err error) {
	for name, f := range t {
		switch dir := path.Dir(name); {
		case sampleFile.MatchString(name):
			delete(t, name)
			continue
		case dir == "handlers" && path.Ext(name) == ".go" && sampleLines.Match(f.content):
			f.content, err = withoutUnusedImports(name, sampleLines.ReplaceAll(f.content, nil))
		case dir == "templates" && path.Ext(name) == ".html":
			f.content = sampleLinks.ReplaceAll(f.content, nil)
		case path.Ext(name) == ".md":
			f.content = sampleOnly.ReplaceAll(f.content, nil)
		}
		if err != nil {
			return fmt.Errorf("without the lines of the sample this is not Go, so leave --without-sample out: %w", err)
		}
		t[name] = f
	}
	return nil
}

// withoutUnusedImports is Go code, formatted, without the imports that nothing
// in it names. A package is taken to be called as the end of its path.
func withoutUnusedImports(name string, content []byte) ([]byte, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for n := range ast.Preorder(parsed) {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
	}
	for _, i := range parsed.Imports {
		unversioned, _, _ := module.SplitPathVersion(strings.Trim(i.Path.Value, `"`))
		if i.Name == nil && !used[path.Base(unversioned)] {
			content = bytes.Replace(content, []byte("\t"+i.Path.Value+"\n"), nil, 1)
		}
	}
	return format.Source(content)
}
