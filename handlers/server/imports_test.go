package server_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// templateFolders are those below handlers/ that are the template's. Every other
// one has packages of the product's own.
var templateFolders = []string{
	"config", "dev", "handlertest", "health", "logs", "metrics", "platform", "server", "session", "sso", "web", "webhook",
}

// ofProduct reports whether a package is the product's, or main, which hands it
// over.
func ofProduct(path string) bool {
	below, found := strings.CutPrefix(path, module+"/handlers/")
	folder, _, _ := strings.Cut(below, "/")
	return path == module || path == module+"/handlers" || found && !slices.Contains(templateFolders, folder)
}

// templateImports are the template's packages and what each imports, its tests
// included.
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
		if fields := strings.Fields(line); !ofProduct(fields[0]) {
			found[fields[0]] = fields[1:]
		}
	}
	return found
}

// Nothing of the template imports the product, its tests included: the product
// is handed over as a value.
func TestArchitecture_TheTemplateDoesNotKnowTheProduct(t *testing.T) {
	t.Parallel()
	embedded := []string{module + "/schema", module + "/templates", module + "/static"}
	below := templateImports(t, "./handlers/...", "./tenancy/...")
	for pkg, paths := range below {
		for _, path := range paths {
			if ofProduct(path) || slices.Contains(embedded, path) {
				t.Errorf("%s imports %s", pkg, path)
			}
		}
	}
	if len(below) < 10 {
		t.Errorf("only %d packages were looked at", len(below))
	}
}

// A folder below handlers/ that is not the template's has packages of the
// product's.
func TestArchitecture_AProductMayHavePackagesOfItsOwn(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		module: true, module + "/handlers": true, module + "/handlers/queries": true, module + "/handlers/pdf/fonts": true, module + "/handlers/webshop": true,
		module + "/handlers/web": false, module + "/handlers/server/doctor": false, module + "/tenancy": false, module + "/schema": false,
		"github.com/labstack/echo/v4/middleware": false,
	} {
		if got := ofProduct(path); got != want {
			t.Errorf("%s: the product's %v, want %v", path, got, want)
		}
	}
}
