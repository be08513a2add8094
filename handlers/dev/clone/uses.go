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
	"strconv"
)

// withoutUses is Go code without the lines that use one of the names, and
// without the imports that were for them alone.
func withoutUses(name string, content []byte, names map[string]bool) ([]byte, error) {
	fset, parsed, err := parse(name, content)
	if err != nil {
		return nil, err
	}
	lines := map[int]bool{}
	for id := range identifiers(parsed) {
		if names[id.Name] {
			lines[fset.Position(id.Pos()).Line] = true
		}
	}
	if len(lines) == 0 {
		return content, nil
	}
	left, err := withoutUnusedImports(name, withoutLines(content, lines))
	if err != nil {
		return nil, fmt.Errorf("without the lines of the sample this is not Go any more, so leave --without-sample out: %w", err)
	}
	return format.Source(left)
}

func parse(name string, content []byte) (*token.FileSet, *ast.File, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
	return fset, parsed, err
}

func identifiers(n ast.Node) func(yield func(*ast.Ident) bool) {
	return func(yield func(*ast.Ident) bool) {
		for n := range ast.Preorder(n) {
			if id, ok := n.(*ast.Ident); ok && !yield(id) {
				return
			}
		}
	}
}

func withoutLines(content []byte, drop map[int]bool) (left []byte) {
	n := 0
	for line := range bytes.Lines(content) {
		if n++; !drop[n] {
			left = append(left, line...)
		}
	}
	return left
}

func withoutUnusedImports(name string, content []byte) ([]byte, error) {
	fset, parsed, err := parse(name, content)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for id := range identifiers(parsed) {
		used[id.Name] = true
	}
	drop := map[int]bool{}
	for _, spec := range parsed.Imports {
		if at, err := strconv.Unquote(spec.Path.Value); err == nil && spec.Name == nil && !used[packageName(at)] {
			drop[fset.Position(spec.Pos()).Line] = true
		}
	}
	return withoutLines(content, drop), nil
}

// packageName is what a package is called by whoever imports it, as a rule.
func packageName(at string) string {
	if dir, last := path.Split(at); regexp.MustCompile(`^v[0-9]+$`).MatchString(last) {
		at = path.Clean(dir)
	}
	return path.Base(at)
}
