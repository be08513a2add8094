package clone_test

import (
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/clone"
	"example.com/subproduct/tenancy/commands/flags"
)

func TestInit_MakesAProduct(t *testing.T) {
	t.Parallel()
	template := folder(t, toy())
	commit(t, template, "1.0.0")
	dir := made(t, template, "--without-sample", "--module", "github.com/acme/billing")
	for path, want := range map[string]string{
		"handlers/product.go": `Name: "Acme Billing",`,
		"main.go":             `"github.com/acme/billing/handlers"`,
		"go.mod":              "module github.com/acme/billing\n",
		".gitignore":          "\n/billing\n",
		".template":           "version: 1.0.0\nmodule: example.com/toy\nown-module: github.com/acme/billing\nname: Acme Billing\nslug: acme-billing\n",
		".env.example":        "\nAPP_SLUG=acme-billing\nPLATFORM_API_KEY=change-me\nWEBHOOK_SECRET=change-me\n",
		".env":                "\nAPP_SLUG=acme-billing\nPLATFORM_API_KEY=change-me\nWEBHOOK_SECRET=",
		".ci/run":             "#!/bin/sh\ngo test\n",
		"README.md":           "# Acme Billing\n\nSay it.\n\nHow to.\n",
		"handlers/routes.go":  "import (\n\t\"strings\"\n)\n\nfunc routes() string {\n\treturn",
		"templates/home.html": "<p>\n  <a href=\"/sessions\">Sessions</a>\n</p>\n",
	} {
		if got := content(t, dir, path); !strings.Contains(got, want) {
			t.Errorf("%s is\n%s\nand has no\n%s", path, got, want)
		}
	}
	for _, path := range []string{".github/picture.png", ".ci/without-sample", ".ci/other-product", "handlers/notes.go", "templates/notes_list.html", "schema/tenant/000001_notes.up.sql"} {
		if exists(dir, path) {
			t.Errorf("%s is still there", path)
		}
	}
	info, err := os.Stat(filepath.Join(dir, ".env"))
	if err != nil || info.Mode().Perm() != 0o600 || strings.Contains(content(t, dir, ".env"), "WEBHOOK_SECRET=change-me") {
		t.Errorf("%v %v\n%s", info.Mode(), err, content(t, dir, ".env"))
	}
	if tracked := command(t, dir, "git", "ls-files", ".env"); tracked != "" {
		t.Error(".env is in git")
	}
}

func TestInit_TwiceChangesNothing(t *testing.T) {
	t.Parallel()
	dir := folder(t, toy())
	const name = `Ben & "Co" \ <b>`
	done(t, clone.Init, dir, "--name", name, "--slug", "acme")
	before := everything(t, dir)
	if out := done(t, clone.Init, dir, "--name", name, "--slug", "acme"); !strings.Contains(out, "Nothing was changed") {
		t.Error(out)
	}
	if err := clone.Init(t.Context(), dir, []string{"--name", "Other", "--slug", "acme"}, io.Discard); err == nil || !strings.Contains(err.Error(), "product.go") {
		t.Errorf("another name: %v", err)
	}
	if after := everything(t, dir); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}

func TestInit_RefusesBadInputBeforeItWrites(t *testing.T) {
	t.Parallel()
	template := toy()
	dir := folder(t, template)
	before := everything(t, dir)
	for want, args := range map[string][]string{
		"--name is missing":  {"--slug", "a"},
		"--slug is missing":  {"--name", "A"},
		"--name \"A\\nB\"":   {"--name", "A\nB", "--slug", "a"},
		"--name \" A\"":      {"--name", " A", "--slug", "a"},
		"1 to 60":            {"--name", strings.Repeat("x", 61), "--slug", "a"},
		"--slug \"A b\"":     {"--name", "A", "--slug", "A b"},
		"1 to 56":            {"--name", "A", "--slug", "-a"},
		"--module":           {"--name", "A", "--slug", "a", "--module", "not a path"},
		"flags only":         {"--name", "A", "--slug", "a", "b"},
		"flag provided but ": {"--nonsense"},
	} {
		if err := clone.Init(t.Context(), dir, args, io.Discard); !errors.Is(err, flags.ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", args, err, want)
		}
	}
	var out strings.Builder
	if err := clone.Init(t.Context(), dir, []string{"--help"}, &out); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), "-without-sample") {
		t.Errorf("%v %s", err, out.String())
	}
	if after := everything(t, dir); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}

// What cannot become a product is refused with the reason, and stays as it is.
func TestInit_RefusesWhatIsNoFreshClone(t *testing.T) {
	t.Parallel()
	for want, prepare := range map[string]func(dir string){
		"not committed": func(dir string) { commit(t, dir, "1"); write(t, dir, map[string]string{"new": "x"}) },
		"CHANGES.md":    func(dir string) { write(t, dir, map[string]string{"handlers/server/CHANGES.md": "none"}) },
		"product.go":    func(dir string) { write(t, dir, map[string]string{"handlers/product.go": "package handlers\n"}) },
		"/.env":         func(dir string) { write(t, dir, map[string]string{".gitignore": "\n"}) },
	} {
		dir := folder(t, toy())
		prepare(dir)
		before := everything(t, dir)
		if err := clone.Init(t.Context(), dir, []string{"--name", "A", "--slug", "a"}, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if after := everything(t, dir); after != before {
			t.Errorf("%s: it was\n%s\nand is\n%s", want, before, after)
		}
	}
}

// A product whose suite fails is an error that says so, and stays.
func TestInit_AFailingSuiteIsSaid(t *testing.T) {
	t.Parallel()
	files := toy()
	files["handlers/product_test.go"] = "package handlers_test\n\nimport \"testing\"\n\nfunc TestProduct(t *testing.T) { t.Error(\"broken\") }\n"
	dir := folder(t, files)
	var out strings.Builder
	err := clone.Init(t.Context(), dir, []string{"--name", "A", "--slug", "a"}, &out)
	if err == nil || !strings.Contains(err.Error(), "go test ./handlers failed") || !strings.Contains(out.String(), "broken") || !exists(dir, ".template") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// When a file cannot be written, those before it are put back.
func TestInit_IsAllOrNothing(t *testing.T) {
	t.Parallel()
	dir := folder(t, toy())
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), filepath.Join(dir, ".template")); err != nil {
		t.Skip(err)
	}
	before := everything(t, dir)
	if err := clone.Init(t.Context(), dir, []string{"--name", "A", "--slug", "a"}, io.Discard); err == nil {
		t.Error("a link out of the folder was written through")
	}
	if after := everything(t, dir); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}

// everything is the paths and contents of a folder, but for git's own.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() {
			text, err := os.ReadFile(name)
			all.WriteString(name + "\n" + string(text) + "\n")
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
