package server_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// product are the packages that are the product's, or hand it over.
var product = []string{module, module + "/handlers"}

// templateImports are the packages that the template imports, its tests
// included.
func templateImports(t *testing.T) (paths []string) {
	t.Helper()
	const format = `{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`
	command := exec.Command("go", "list", "-f", format, "./...")
	command.Dir, command.Stderr = root, os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(output)) {
		if fields := strings.Fields(line); !slices.Contains(product, fields[0]) {
			paths = append(paths, fields[1:]...)
		}
	}
	return paths
}

// Every module that the template imports stands in README.md with its reason,
// and no other. What a product adds to go.mod is the product's affair.
func TestDependencies_HaveAReason(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| (\S+/\S+) \| [^|]{5,} \|$`).FindAllStringSubmatch(string(readme), -1) {
		used[m[1]] = false
	}
	for _, path := range templateImports(t) {
		host, _, _ := strings.Cut(path, "/")
		if !strings.Contains(host, ".") || ours(path) { // the standard library has no host
			continue
		}
		if name := named(used, strings.TrimPrefix(path, "github.com/")); name != "" {
			used[name] = true
		} else {
			t.Errorf("%s has no line in README.md", path)
		}
	}
	for module, is := range used {
		if !is {
			t.Errorf("README.md has %s, which nothing imports", module)
		}
	}
}

// named is the module of the table that the package is in; empty: none.
func named(modules map[string]bool, path string) string {
	for module := range modules {
		if path == module || strings.HasPrefix(path, module+"/") {
			return module
		}
	}
	return ""
}
