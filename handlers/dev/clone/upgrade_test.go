package clone_test

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/clone"
)

// later is a later version of the toy, with a change of every kind.
func later() map[string]string {
	files := toy()
	delete(files, "handlers/server/old.go")
	for path, change := range map[string][2]string{
		"handlers/web/web.go":        {"Another.", "Another one."},
		"handlers/notes.go":          {"body any", "body, title any"},
		"handlers/server/CHANGES.md": {"## 1.0.0", "## 1.1.0\n\nCall `New`.\n\n## 1.0.0"},
		"Dockerfile":                 {"FROM a", "FROM a2"},
		"README.md":                  {"How to.", "How to, better."},
		".env.example":               {"WEBHOOK_SECRET=change-me\n", "WEBHOOK_SECRET=change-me\n#NEW=1\n"},
		".github/picture.png":        {"PNG", "PNG2"},
		"templates/home.html":        {"Sessions", "Your sessions"},
	} {
		files[path] = strings.Replace(files[path], change[0], change[1], 1)
	}
	files["handlers/web/new.go"] = "package web\n\nimport _ \"example.com/toy/handlers/server\"\n"
	files["tenancy/schema/000002_new.up.sql"] = "CREATE TABLE new (id int);\n"
	files["handlers/notes_pages.go"] = "package handlers\n\nvar _ = notes{}.title\n"
	return files
}

// releases is the toy's repository with both versions; 1.0.0 is a tag.
func releases(t *testing.T) string {
	t.Helper()
	dir := folder(t, toy())
	commit(t, dir, "1.0.0")
	command(t, dir, "git", "tag", "v1.0.0")
	return dir
}

func release(t *testing.T, template string, files map[string]string) {
	t.Helper()
	command(t, template, "git", "rm", "-r", "--quiet", ".")
	write(t, template, files)
	commit(t, template, "later")
}

func TestUpgrade_TakesTheTemplateOverAndLeavesTheProduct(t *testing.T) {
	t.Parallel()
	for name, module := range map[string][]string{"its module": {"--module", "github.com/acme/billing"}, "the template's module": nil} {
		template := releases(t)
		dir := made(t, template, append([]string{"--without-sample"}, module...)...)
		write(t, dir, map[string]string{
			"Dockerfile":          "FROM a\nRUN b\nRUN c\nRUN d\nCMD mine\n",
			"README.md":           strings.Replace(content(t, dir, "README.md"), "Say it.", "Bills for Acme.", 1),
			".env.example":        "# Settings.\nAPP_SLUG=acme-billing\nPLATFORM_API_KEY=change-me\nWEBHOOK_SECRET=change-me\n",
			"templates/home.html": "mine\n",
			"handlers/pdf/pdf.go": "package pdf\n",
		})
		commit(t, dir, "mine")
		release(t, template, later())
		out := done(t, clone.Upgrade, dir, template)
		own := "example.com/toy"
		if module != nil {
			own = module[1]
		}
		for path, want := range map[string]string{
			"Dockerfile":                       "FROM a2\nRUN b\nRUN c\nRUN d\nCMD mine\n",
			"README.md":                        "# Acme Billing\n\nBills for Acme.\n\nHow to, better.\n",
			".env.example":                     "# Settings.\nAPP_SLUG=acme-billing\nPLATFORM_API_KEY=change-me\nWEBHOOK_SECRET=change-me\n#NEW=1\n",
			"handlers/web/web.go":              later()["handlers/web/web.go"],
			"handlers/web/new.go":              "package web\n\nimport _ \"" + own + "/handlers/server\"\n",
			"tenancy/schema/000002_new.up.sql": "CREATE TABLE new (id int);\n",
			"templates/home.html":              "mine\n",
			"handlers/pdf/pdf.go":              "package pdf\n",
		} {
			if got := content(t, dir, path); got != want {
				t.Errorf("%s: %s is\n%s\nwant\n%s", name, path, got, want)
			}
		}
		for _, path := range []string{"handlers/server/old.go", "handlers/notes.go", "handlers/notes_pages.go", ".github", ".ci/without-sample"} {
			if exists(dir, path) {
				t.Errorf("%s: %s is there", name, path)
			}
		}
		if !strings.Contains(out, "## 1.1.0\n\nCall `New`.") || strings.Contains(out, "The first.") || strings.Contains(out, "decide") {
			t.Errorf("%s: it said\n%s", name, out)
		}
		commit(t, dir, "1.1.0")
		if done(t, clone.Upgrade, dir, template); command(t, dir, "git", "status", "--porcelain") != "" {
			t.Errorf("%s: the second time changed something", name)
		}
	}
}

// What a person has to decide is named and kept.
func TestUpgrade_KeepsWhatWasChangedByHand(t *testing.T) {
	t.Parallel()
	template := releases(t)
	dir := made(t, template)
	write(t, dir, map[string]string{
		"handlers/web/web.go":       "package web\n\n// Mine.\n",
		"handlers/server/old.go":    "package server\n\n// Mine.\n",
		"handlers/web/new.go":       "package web\n\n// Made here.\n",
		"handlers/server/server.go": toy()["handlers/server/server.go"] + "\n// Mine.\n",
		"Dockerfile":                "FROM mine\nRUN b\nRUN c\nRUN d\nCMD e\n",
	})
	commit(t, dir, "mine")
	release(t, template, later())
	out := done(t, clone.Upgrade, dir, template)
	for path, want := range map[string]string{
		"handlers/web/web.go":              "Mine.",
		"handlers/web/web.go.template-new": "Another one.",
		"handlers/server/old.go":           "Mine.",
		"handlers/web/new.go":              "Made here.",
		"handlers/web/new.go.template-new": "handlers/server",
		"handlers/server/server.go":        "Mine.",
		"Dockerfile":                       "<<<<<<< yours\nFROM mine\n=======\nFROM a2\n>>>>>>> template 1.1.0\n",
	} {
		if got := content(t, dir, path); !strings.Contains(got, want) {
			t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
		}
		if path := strings.TrimSuffix(path, ".template-new"); !strings.Contains(out, path+": ") {
			t.Errorf("%s is not named in\n%s", path, out)
		}
	}
}

// A copied folder without a history upgrades too: its files are known by their
// hashes. What both have changed needs the history of one of them.
func TestUpgrade_WithoutGit(t *testing.T) {
	t.Parallel()
	dir := folder(t, toy())
	done(t, clone.Init, dir, "--name", "Acme Billing", "--slug", "acme-billing")
	write(t, dir, map[string]string{"Dockerfile": "FROM a\nCMD mine\n"})
	out := done(t, clone.Upgrade, dir, folder(t, later()))
	for path, want := range map[string]string{
		"handlers/web/web.go":     "Another one.",
		"README.md":               "How to, better.",
		"Dockerfile":              "CMD mine",
		"Dockerfile.template-new": "FROM a2",
	} {
		if got := content(t, dir, path); !strings.Contains(got, want) {
			t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
		}
	}
	if !strings.Contains(out, "Dockerfile: ") || !strings.Contains(out, "neither repository") || exists(dir, "handlers/server/old.go") {
		t.Error(out)
	}
}

func TestUpgrade_ToAReferenceAndNotBackwards(t *testing.T) {
	t.Parallel()
	template := releases(t)
	dir := made(t, template)
	command(t, template, "git", "checkout", "--quiet", "-b", "next")
	release(t, template, later())
	command(t, template, "git", "checkout", "--quiet", "v1.0.0")
	before := everything(t, dir)
	if out := done(t, clone.Upgrade, dir, template, "v1.0.0"); everything(t, dir) != before {
		t.Error(out)
	}
	if out := done(t, clone.Upgrade, dir, "--dry-run", template, "next"); everything(t, dir) != before || !strings.Contains(out, "Call `New`") || !strings.Contains(out, "handlers/web/new.go") {
		t.Errorf("a dry run: %s", out)
	}
	done(t, clone.Upgrade, dir, template, "next")
	commit(t, dir, "1.1.0")
	if err := clone.Upgrade(t.Context(), dir, []string{template, "v1.0.0"}, io.Discard); err == nil || !strings.Contains(err.Error(), "1.1.0 already") {
		t.Errorf("backwards: %v", err)
	}
}

// A product may rename its module later, too.
func TestUpgrade_AfterTheModuleWasRenamedByHand(t *testing.T) {
	t.Parallel()
	template := releases(t)
	dir := made(t, template)
	for _, path := range []string{"go.mod", "main.go", "handlers/product.go"} {
		write(t, dir, map[string]string{path: strings.ReplaceAll(content(t, dir, path), "example.com/toy", "github.com/acme/billing")})
	}
	commit(t, dir, "renamed")
	files := later()
	files["main.go"] += "\n// Later.\n"
	release(t, template, files)
	out := done(t, clone.Upgrade, dir, template)
	if got := content(t, dir, "main.go"); !strings.Contains(got, "github.com/acme/billing/handlers") || !strings.Contains(got, "Later.") || strings.Contains(out, "decide") {
		t.Errorf("%s\n%s", got, out)
	}
}

func TestUpgrade_RefusesBeforeItWrites(t *testing.T) {
	t.Parallel()
	template := releases(t)
	dir := made(t, template)
	for want, c := range map[string]struct {
		in   string
		args []string
	}{
		"wrong call":           {dir, nil},
		"upgrade [--dry-run]":  {dir, []string{template, "v1", "v2"}},
		"no .template here":    {template, []string{template}},
		"a product too":        {dir, []string{dir}},
		"does not exist":       {dir, []string{t.TempDir() + "/nowhere"}},
		"nonsense":             {dir, []string{template, "nonsense"}},
		"no history":           {dir, []string{folder(t, toy()), "v1.0.0"}},
		"this is not the temp": {dir, []string{folder(t, map[string]string{"go.mod": "module x\n"})}},
	} {
		before := everything(t, c.in)
		if err := clone.Upgrade(t.Context(), c.in, c.args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", c.args, err, want)
		}
		if everything(t, c.in) != before {
			t.Errorf("%v: something was changed", c.args)
		}
	}
	write(t, dir, map[string]string{"new": "x"})
	if err := clone.Upgrade(t.Context(), dir, []string{template}, io.Discard); err == nil || !strings.Contains(err.Error(), "not committed") {
		t.Errorf("a dirty tree: %v", err)
	}
	if err := clone.Upgrade(t.Context(), dir, []string{"--help"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("help: %v", err)
	}
}

// Where the product does not build with the new version, it stays, and what the
// compiler says is shown, with what is to be done by hand: a second call does not.
func TestUpgrade_ThatDoesNotBuildStays(t *testing.T) {
	t.Parallel()
	template := releases(t)
	dir := made(t, template)
	files := later()
	files["handlers/server/server.go"] = "package server\n"
	release(t, template, files)
	var out strings.Builder
	err := clone.Upgrade(t.Context(), dir, []string{template}, &out)
	if err == nil || !strings.Contains(err.Error(), "mend them, then go build ./... && go test ./handlers, and commit") || !strings.Contains(out.String(), "server.Product") || !exists(dir, "handlers/web/new.go") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
