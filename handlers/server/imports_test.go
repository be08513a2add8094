package server_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Nothing below handlers/ imports the product, its tests included: the product
// is handed over as a value.
func TestArchitecture_TheTemplateDoesNotKnowTheProduct(t *testing.T) {
	t.Parallel()
	const format = `{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`
	command := exec.Command("go", "list", "-f", format, "./handlers/...")
	command.Dir, command.Stderr = root, os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	product := []string{module + "/handlers", module + "/schema", module + "/templates", module + "/static"}
	packages := 0
	for line := range strings.Lines(string(output)) {
		fields := strings.Fields(line)
		if fields[0] == module+"/handlers" {
			continue
		}
		packages++
		for _, path := range fields[1:] {
			if slices.Contains(product, path) {
				t.Errorf("%s imports %s", fields[0], path)
			}
		}
	}
	if packages < 10 {
		t.Errorf("only %d packages were looked at", packages)
	}
}
