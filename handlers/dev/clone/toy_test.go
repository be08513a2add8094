package clone_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/clone"
)

// toy is a template of the same shape as this one that builds in a moment.
func toy() map[string]string {
	return map[string]string{
		"go.mod":                            "module example.com/toy\n\ngo 1.26.0\n",
		"main.go":                           "package main\n\nimport \"example.com/toy/handlers\"\n\nfunc main() { print(handlers.Product().Name) }\n",
		"handlers/product.go":               "package handlers\n\nimport \"example.com/toy/handlers/server\"\n\nfunc Product() server.Product {\n\treturn server.Product{\n\t\tName: \"Toy\",\n\t\tSlug: \"toy\",\n\t}\n}\n",
		"handlers/product_test.go":          "package handlers_test\n\nimport \"testing\"\n\nfunc TestProduct(t *testing.T) {}\n",
		"handlers/routes.go":                "package handlers\n\nimport (\n\t\"net/http\"\n\t\"strings\"\n)\n\nfunc routes() string {\n\t_ = notes{http.NoBody}\n\treturn strings.ToUpper(\"x\")\n}\n",
		"handlers/notes.go":                 "package handlers\n\ntype notes struct{ body any }\n",
		"handlers/server/server.go":         "package server\n\ntype Product struct{ Name, Slug string }\n",
		"handlers/server/old.go":            "package server\n",
		"handlers/web/web.go":               "package web\n\n// A line.\n\n// Another.\n",
		"handlers/server/CHANGES.md":        "# Changes\n\n## 1.0.0\n\nThe first.\n",
		"schema/README.md":                  "Rules.\n",
		"schema/tenant/000001_notes.up.sql": "CREATE TABLE notes (id int);\n",
		"templates/home.html":               "<p>\n  <a class=\"x\" href=\"/notes\">\n    Notes\n  </a>\n  <a href=\"/sessions\">Sessions</a>\n</p>\n",
		"templates/notes_list.html":         "notes\n",
		"static/app.css":                    "p {}\n",
		"Dockerfile":                        "FROM a\nRUN b\nRUN c\nRUN d\nCMD e\n",
		"README.md":                         "# Toy\n\n<!-- [template only -->\nBuy it.\n<!-- template only] -->\n\n<!-- [product only\nSay it.\nproduct only] -->\n\nHow to.\n",
		".env.example":                      "# Settings.\nAPP_SLUG=change-me\nPLATFORM_API_KEY=change-me\nWEBHOOK_SECRET=change-me\n",
		".gitignore":                        "# x\n/.env\n/*product\n",
		".ci/run":                           "#!/bin/sh\n# [template only\n.ci/without-sample\n# template only]\ngo test\n",
		".ci/without-sample":                "#!/bin/sh\n",
		".ci/other-product/x.go":            "package x\n",
		".github/picture.png":               "\x89PNG\xff",
	}
}

// folder is a new folder with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for path, content := range files {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func content(t *testing.T, dir, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func exists(dir, path string) bool {
	_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(path)))
	return err == nil
}

// commit makes everything in dir a commit; the first makes the repository.
func commit(t *testing.T, dir, message string) {
	t.Helper()
	if !exists(dir, ".git") {
		command(t, dir, "git", "init", "--quiet")
	}
	command(t, dir, "git", "add", "--all")
	command(t, dir, "git", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "--message", message)
}

func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), args[0], args[1:]...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// made is a product that init made of a clone of the template, committed.
func made(t *testing.T, template string, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "product")
	command(t, ".", "git", "clone", "--quiet", template, dir)
	done(t, clone.Init, dir, append([]string{"--name", "Acme Billing", "--slug", "acme-billing"}, args...)...)
	commit(t, dir, "Acme Billing")
	return dir
}

type cloner func(ctx context.Context, dir string, args []string, out io.Writer) error

// done runs a command that must succeed, and returns what it printed.
func done(t *testing.T, r cloner, dir string, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := r(t.Context(), dir, args, &out); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out.String())
	}
	return out.String()
}
