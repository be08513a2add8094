package generator_test

import (
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/generator"
)

var update = flag.Bool("update", false, "write example/ anew")

// everyType is a resource that has each type of field, and each word that may
// stand behind one.
const everyType = "order_lines sku:string:unique remark:text:optional quantity:int price:numeric shipped:bool due_date:date " +
	"ordered_at:timestamp product_id:uuid label:string:optional discount:numeric:optional batch:int:optional:unique " +
	"best_before:date:optional seen_at:timestamp:optional supplier_id:uuid:optional story:text " +
	"customer:ref=customers agent:ref=customers:optional"

// before is a folder with the product as it is before the resource is added.
func before(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/before")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"handlers/routes.go", "handlers/errors.go"} {
		content := regexp.MustCompile(`"\S+(/handlers/\w+")`).ReplaceAllString(read(t, dir, name), `"`+module(t)+`$1`)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// module is the path of the module that this is part of, whatever it was renamed
// to.
func module(t *testing.T) string {
	t.Helper()
	return strings.Fields(read(t, "../../..", "go.mod"))[1]
}

func target(t *testing.T, dir string) generator.Target {
	t.Helper()
	return generator.Target{Root: dir, Module: module(t), Product: module(t) + "/handlers/dev/generator/example/handlers"}
}

// The example, which is compiled and has tests of its own, is what the sources
// make. go test ./handlers/dev/generator -update writes it.
func TestExample_IsWhatAddMakes(t *testing.T) {
	t.Parallel()
	dir := before(t)
	if err := generator.Add(target(t, dir), "", strings.Fields(everyType), io.Discard); err != nil {
		t.Fatal(err)
	}
	seen := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) == ".md" {
			return err
		}
		seen++
		made, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := filepath.Join("example", strings.TrimPrefix(path, dir))
		if *update {
			return os.WriteFile(name, made, 0o644)
		}
		if have, err := os.ReadFile(name); err != nil || string(have) != string(made) {
			t.Errorf("%s is not what the sources make (%v): run this test with -update", name, err)
		}
		return nil
	})
	if err != nil || seen != 15 {
		t.Errorf("%d files, %v", seen, err)
	}
}
