package generator_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/generator"
	"example.com/subproduct/tenancy/commands/flags"
)

func read(t *testing.T, dir, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Lines go behind those that are there, whatever the product looks like, and the
// migration behind the last.
func TestAdd_FindsThePlacesOfAProduct(t *testing.T) {
	t.Parallel()
	dir := before(t)
	for name, content := range map[string]string{
		"go.mod":                        "module shop.example/v2\n",
		"handlers/routes.go":            "package handlers\n\nimport \"shop.example/v2/handlers/server\"\n\ntype shop struct{}\n\nfunc (s *shop) addresses(all server.Routes) {\n\tall.Public.GET(\"/\", nil)\n}\n",
		"handlers/errors.go":            "package handlers\n\nimport (\n\t\"net/http\"\n\n\t\"shop.example/v2/handlers/web\"\n)\n\nvar answers = []web.ErrorAnswer{{Err: nil, Status: http.StatusGone}}\n",
		"templates/layout.html":         "<header></header>\n",
		"schema/tenant/000041_a.up.sql": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := generator.Add(generator.Target{Root: dir}, "person", []string{"people", "name:string"}, &out); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"handlers/routes.go":                 "\n\n\tpeople := people{all.DB}\n\tall.User.GET(\"/people\", people.index)\n",
		"handlers/errors.go":                 "{{Err: nil, Status: http.StatusGone},\n\t{Err: errNoPerson, Status: http.StatusNotFound, Sentence: \"There is no such person.\"},\n}\n",
		"handlers/people_data.go":            "type person struct {",
		"handlers/people_test.go":            "\"shop.example/v2/handlers\"\n",
		"schema/tenant/000042_people.up.sql": "CREATE TABLE people (",
		"templates/layout.html":              "<header></header>\n",
	} {
		if have := read(t, dir, name); !strings.Contains(have, want) {
			t.Errorf("%s has no\n%s\nin\n%s", name, want, have)
		}
	}
	if !strings.Contains(out.String(), "link to /people yourself") {
		t.Errorf("it says nothing of a missing link:\n%s", out.String())
	}
}

// A product may have its routes and the answers to its errors in one file, in
// either order.
func TestAdd_ToOneFileForAll(t *testing.T) {
	t.Parallel()
	const head, routes, answers = "package handlers\n\nimport \"shop.example/handlers/server\"\n",
		"\nfunc routes(r server.Routes) {\n\tr.Public.GET(\"/\", nil)\n}\n", "\nvar answers = []web.ErrorAnswer{}\n"
	for name, content := range map[string]string{"routes first": head + routes + answers, "answers first": head + answers + routes} {
		dir := before(t)
		err := errors.Join(os.Remove(filepath.Join(dir, "handlers/errors.go")), os.WriteFile(filepath.Join(dir, "handlers/routes.go"), []byte(content), 0o600),
			generator.Add(target(t, dir), "person", []string{"people", "name:string"}, io.Discard))
		if err != nil {
			t.Fatal(name, err)
		}
		have := read(t, dir, "handlers/routes.go")
		for _, want := range []string{"\t\"net/http\"\n", "\tr.User.GET(\"/people\", people.index)\n", "\t{Err: errNoPerson, Status: http.StatusNotFound,"} {
			if strings.Count(have, want) != 1 {
				t.Errorf("%s: there is no\n%s\nin\n%s", name, want, have)
			}
		}
	}
}

// The same again is refused; a second one stands behind the first.
func TestAdd_Twice(t *testing.T) {
	t.Parallel()
	dir := before(t)
	for _, c := range []struct {
		call    string
		refused bool
	}{
		{"invoices number:string", false}, {"invoices number:string", true}, {"payments amount:numeric", false},
	} {
		if err := generator.Add(target(t, dir), "", strings.Fields(c.call), io.Discard); errors.Is(err, flags.ErrUsage) != c.refused || !c.refused && err != nil {
			t.Errorf("%s: %v", c.call, err)
		}
	}
	for page, last := range map[string]string{"templates/layout.html": "Your own pages", "templates/home.html": "/sessions"} {
		text := read(t, dir, page)
		first, second := strings.Index(text, "/invoices"), strings.Index(text, "/payments")
		if first < 0 || second < first || strings.Index(text, last) < second {
			t.Errorf("the links are not in order:\n%s", text)
		}
	}
}
