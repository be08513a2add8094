package handlers_test

import (
	"os"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/generator"
)

// The sample is what `add notes title:string` makes. This test goes with it, or
// as soon as you change it.
func TestNotes_AreWhatAddMakes(t *testing.T) {
	t.Parallel()
	notes, err := generator.Parse("", []string{"notes", "title:string"})
	if err != nil {
		t.Fatal(err)
	}
	gomod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	module := strings.Fields(string(gomod))[1]
	made, err := notes.Files(generator.Target{Module: module, Product: module + "/handlers"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range made {
		if have, err := os.ReadFile("../" + path); err != nil || string(have) != content {
			t.Errorf("%s is not what the generator makes (%v)", path, err)
		}
	}
}
