package clone_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/clone"
)

// root is this repository.
const root = "../../.."

// inTheTemplate skips what is about the template itself in a product.
func inTheTemplate(t *testing.T) {
	t.Helper()
	if exists(root, ".template") {
		t.Skip("this is a product")
	}
}

// named finds the template's name and slug.
var named = regexp.MustCompile(`(?i).*sub` + `product.*`)

// sample finds what names the sample, and ofProduct the files that a product owns
// or shares.
var (
	sample    = regexp.MustCompile(`(?i).*\bnotes?(\b|_).*`)
	ofProduct = regexp.MustCompile(`^([^/]+|\.[^/]+/.*|(handlers|schema|templates|static)/([^/]+|(tenant|shared)/.*)|handlers/server/README\.md)$`)
)

func namesSample(path, text string) bool {
	return path != ".template" && ofProduct.MatchString(path) && sample.MatchString(text)
}

// products are the files of a product that was made of this template, by whether
// that was without the sample.
func products(t *testing.T) map[bool]map[string]string {
	t.Helper()
	both := map[bool]map[string]string{}
	for _, withoutSample := range []bool{false, true} {
		files, err := clone.Product(t.Context(), root, "Acme Billing", "acme-billing", withoutSample)
		if err != nil {
			t.Fatal(err)
		}
		both[withoutSample] = files
	}
	return both
}

// But for the module's path, no file of a product names the template.
func TestInit_LeavesNoNameOfTheTemplate(t *testing.T) {
	t.Parallel()
	inTheTemplate(t)
	for withoutSample, files := range products(t) {
		for path, text := range files {
			if withoutSample && namesSample(path, text) {
				t.Errorf("%s names the sample: %s", path, sample.FindString(text))
			}
			if line := named.FindString(strings.ReplaceAll(text, "example.com/subproduct", "")); line != "" && path != ".template" {
				t.Errorf("%s: %s", path, line)
			}
		}
		if _, ok := files["handlers/notes.go"]; ok == withoutSample || len(files) < 300 {
			t.Errorf("%d files; the sample is there: %v", len(files), ok)
		}
	}
}

// The remark that says where own pages go points at a link that is there, with the
// sample and without.
func TestInit_LeavesNoRemarkThatPointsAtNothing(t *testing.T) {
	t.Parallel()
	inTheTemplate(t)
	for withoutSample, files := range products(t) {
		for _, page := range []string{"templates/home.html", "templates/layout.html"} {
			nav := regexp.MustCompile(`(?s)<nav(.*?){{- /\* Your own pages go here([^\n]*)\n(.*?)</nav>`).FindStringSubmatch(files[page])
			if nav == nil {
				t.Fatalf("%s has no such remark", page)
			}
			above, remark, below := nav[1], nav[2], nav[3]
			for word, there := range map[string]string{"above": above, "below": below} {
				if strings.Contains(remark, word) && !strings.Contains(there, "<a ") {
					t.Errorf("%s, without the sample: %v: nothing stands %s the remark", page, withoutSample, word)
				}
			}
		}
	}
}

// This template as its user meets it: cloned, made a product without the sample,
// given a resource, started and used by two tenants, grown by hand, and upgraded
// after the template has moved on.
func TestUpgrade_OfThisTemplate(t *testing.T) {
	t.Parallel()
	inTheTemplate(t)
	if testing.Short() {
		t.Skip("it builds this program and its copies")
	}
	template, product := t.TempDir(), filepath.Join(t.TempDir(), "billing")
	if err := clone.Copy(t.Context(), root, template); err != nil {
		t.Fatal(err)
	}
	commit(t, template, "1")
	command(t, ".", "git", "clone", "--quiet", template, product)
	ours := build(t, root)
	run(t, product, ours, "init", "--name", "Acme Billing", "--slug", "acme-billing", "--module", "github.com/acme/billing", "--without-sample")
	commit(t, product, "Acme Billing")
	run(t, product, ours, "add", "invoices", "number:string:unique", "amount:numeric", "due:date", "paid:bool")
	theirs := build(t, product)
	useInvoices(t, product, theirs)

	grow(t, product)
	commit(t, product, "Bills")
	moveOn(t, template)
	commit(t, template, "2")
	out := run(t, product, theirs, "upgrade", template)
	for _, want := range []string{"999.1.0", "Say so.", "Dockerfile\n", "README.md\n", ".env.example\n", "handlers\t"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "decide") {
		t.Error(out)
	}
	for path, want := range map[string]string{
		"Dockerfile":                       "# theirs",
		"README.md":                        "Bills for Acme.",
		".env.example":                     "BILLS_CURRENCY=EUR",
		".golangci.yml":                    "# theirs",
		"handlers/web/later.go":            `"github.com/acme/billing/tenancy"`,
		"handlers/bills.go":                "mine",
		"tenancy/schema/999999_new.up.sql": "CREATE TABLE",
		"templates/home.html":              "<!-- mine -->",
	} {
		if got := content(t, product, path); !strings.Contains(got, want) {
			t.Errorf("%s has no %s", path, want)
		}
	}
	for path := range strings.FieldsSeq(command(t, product, "git", "ls-files", "--cached", "--others", "--exclude-standard")) {
		if exists(product, path) && path != ".template" && named.MatchString(content(t, product, path)) {
			t.Errorf("%s names the template: %s", path, named.FindString(content(t, product, path)))
		}
		if strings.Contains(path, "notes") || exists(product, path) && namesSample(path, content(t, product, path)) {
			t.Errorf("%s came with the upgrade, or names the sample", path)
		}
	}
}

// sparing makes the go command leave out what the copies do not need twice: vet,
// which has seen their code here, and what a debugger reads.
func sparing() []string {
	return append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -vet=off -ldflags=-w")
}

// build builds the program in dir and returns its path.
func build(t *testing.T, dir string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "program")
	run(t, dir, "go", "build", "-o", at, ".")
	return at
}

// run runs a program in dir, as its user does.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), args[0], args[1:]...)
	c.Dir, c.Env = dir, sparing()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// edit changes text in a file that has it.
func edit(t *testing.T, dir, path, old, with string) {
	t.Helper()
	text := content(t, dir, path)
	if !strings.Contains(text, old) {
		t.Fatalf("%s has no %q", path, old)
	}
	write(t, dir, map[string]string{path: strings.Replace(text, old, with, 1)})
}

// grow is what a product does with its own files, and with those it shares.
func grow(t *testing.T, dir string) {
	t.Helper()
	edit(t, dir, "README.md", "say it here.", "Bills for Acme.")
	edit(t, dir, "Dockerfile", "EXPOSE 8080", "# mine\nEXPOSE 8080")
	edit(t, dir, "templates/home.html", "{{end}}\n", "{{end}}\n<!-- mine -->\n")
	write(t, dir, map[string]string{
		"handlers/bills.go":                   "package handlers\n\n// mine\nconst bills = \"bills\"\n\nvar _ = bills\n",
		"schema/tenant/000009_bills.up.sql":   "CREATE TABLE bills (id bigint PRIMARY KEY);\n",
		"schema/tenant/000009_bills.down.sql": "DROP TABLE bills;\n",
		".env.example":                        content(t, dir, ".env.example") + "BILLS_CURRENCY=EUR\n",
	})
}

// moveOn is a later version of the template: ten changes, where they may be.
func moveOn(t *testing.T, dir string) {
	t.Helper()
	edit(t, dir, "handlers/server/CHANGES.md", "\n## ", "\n## 999.1.0\n\nSay so.\n\n## ")
	edit(t, dir, "Dockerfile", "WORKDIR /src", "# theirs\nWORKDIR /src")
	edit(t, dir, "README.md", "## Operate it", "theirs\n\n## Operate it")
	edit(t, dir, ".env.example", "# --- Required", "# theirs\n# --- Required")
	edit(t, dir, ".golangci.yml", "linters:", "linters: # theirs")
	edit(t, dir, "handlers/web/doc.go", "package web", "package web // theirs")
	edit(t, dir, "templates/templates.go", "package templates", "package templates // theirs")
	edit(t, dir, "templates/home.html", "{{end}}\n", "{{end}}\n<!-- theirs -->\n")
	if err := os.Remove(filepath.Join(dir, "handlers/handlertest/fixture/schema/shared/000001_colours.down.sql")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{
		"handlers/web/later.go":              "package web\n\nimport \"example.com/subproduct/tenancy\"\n\nvar _ tenancy.Slug\n",
		"handlers/notes_later.go":            "package handlers\n\nvar _ = notes{}.later\n",
		"tenancy/schema/999999_new.up.sql":   "CREATE TABLE public.later (id bigint PRIMARY KEY);\n",
		"tenancy/schema/999999_new.down.sql": "DROP TABLE public.later;\n",
	})
}
