package server_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// templateImports are the template's packages and what each imports, its tests
// included. The product's package and main, which hands it over, are left out.
func templateImports(t *testing.T, patterns ...string) map[string][]string {
	t.Helper()
	const format = `{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`
	command := exec.Command("go", append([]string{"list", "-f", format}, patterns...)...)
	command.Dir, command.Stderr = root, os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for line := range strings.Lines(string(output)) {
		if fields := strings.Fields(line); fields[0] != module && fields[0] != module+"/handlers" {
			found[fields[0]] = fields[1:]
		}
	}
	return found
}

// Nothing of the template imports the product, its tests included: the product
// is handed over as a value.
func TestArchitecture_TheTemplateDoesNotKnowTheProduct(t *testing.T) {
	t.Parallel()
	product := []string{module + "/handlers", module + "/schema", module + "/templates", module + "/static"}
	below := templateImports(t, "./handlers/...", "./tenancy/...")
	for pkg, paths := range below {
		for _, path := range paths {
			if slices.Contains(product, path) {
				t.Errorf("%s imports %s", pkg, path)
			}
		}
	}
	if len(below) < 10 {
		t.Errorf("only %d packages were looked at", len(below))
	}
}
