package server_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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
	for _, path := range slices.Concat(slices.Collect(maps.Values(templateImports(t, "./...")))...) {
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
