package server_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the folder of go.mod, from this one.
const root = "../.."

// testNames are all test functions of the module.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names, fset := map[string]bool{}, token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				names[f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Every attack in the tables has its defence, an outcome, and a test that is
// there.
func TestSecurity_EveryAttackHasItsTest(t *testing.T) {
	t.Parallel()
	names := testNames(t)
	cited := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	for _, file := range []string{"SECURITY.md", root + "/README.md"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range cited.FindAllStringSubmatch(string(content), -1) {
			if !names[m[1]] {
				t.Errorf("%s names %s, which is not there", file, m[1])
			}
		}
		if file != "SECURITY.md" {
			continue
		}
		attacks := 0
		for line := range strings.Lines(string(content)) {
			if regexp.MustCompile(`^\| \d+ \|`).MatchString(line) {
				if attacks++; !cited.MatchString(line) || strings.Count(line, "|") != 6 {
					t.Errorf("no attack, defence, test and outcome in %s", line)
				}
			}
		}
		if attacks < 60 {
			t.Errorf("%d attacks, want at least 60", attacks)
		}
	}
}
