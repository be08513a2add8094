package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const traces = "testdata/traces"

// The recipe for traces is compiled and run, in a module of its own.
func TestTraces_TheRecipeRuns(t *testing.T) {
	t.Parallel()
	modfile := filepath.Join(t.TempDir(), "go.mod")
	for _, name := range []string{"go.mod", "go.sum"} { // a copy: it follows the product's go.mod as that changes
		content, err := os.ReadFile(filepath.Join(traces, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(filepath.Dir(modfile), name), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (string, error) {
		command := exec.Command("go", append(args, "-mod=mod", "-modfile="+modfile, ".")...)
		command.Dir, command.Env = traces, append(os.Environ(), "GOWORK=off")
		output, err := command.CombinedOutput()
		return string(output), err
	}
	if output, err := run("list", "-deps", "-test"); err != nil && os.Getenv("CI") == "" {
		t.Skipf("the modules of the recipe cannot be had: %s", output)
	}
	if output, err := run("test", "-count=1"); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestTraces_TheReadmeShowsWhatIsRun(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join(traces, "traces.go"))
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile(`(?s)// recipe begins\n\n(.*)\n// recipe ends`).FindSubmatch(source)
	if recipe == nil || !strings.Contains(readOps(t, "README.md"), indented(string(recipe[1]))) {
		t.Errorf("ops/README.md does not show:\n%s", recipe)
	}
}
