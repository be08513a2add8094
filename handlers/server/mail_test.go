package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/generator"
)

// mailModule is a copy of testdata/mail, whose go.mod may be changed: it takes
// the modules of this one as they are now.
func mailModule(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/mail")); err != nil {
		t.Fatal(err)
	}
	above, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string) string {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	for name, content := range map[string]string{
		"go.mod": strings.Replace(read("testdata/mail/go.mod"), "=> ../../../..", "=> "+above, 1),
		"go.sum": read("testdata/mail/go.sum") + read(filepath.Join(above, "go.sum")),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// addInvoices writes the code of README's example of the command add to dir.
func addInvoices(t *testing.T, dir string) {
	t.Helper()
	r, err := generator.Parse("", []string{"invoices", "number:string", "amount:numeric", "due:date", "paid:bool"})
	if err != nil {
		t.Fatal(err)
	}
	made, err := r.Files(generator.Target{Module: module, Product: module + "/handlers"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"invoices.go", "invoices_data.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(made["handlers/"+name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The recipe for mails is a module of its own, so that this one does not need
// its libraries: its tests run here. Its files go into handlers/ as they are, also
// beside what add makes.
func TestRecipes_MailIsSent(t *testing.T) {
	t.Parallel()
	dir := mailModule(t)
	run := func(args ...string) (string, error) {
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir, command.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		output, err := command.CombinedOutput()
		return string(output), err
	}
	if output, err := run("mod", "download", "github.com/wneessen/go-mail", "github.com/emersion/go-smtp"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("its modules cannot be had, and this test must run here:\n%s", output)
		}
		t.Skipf("its modules cannot be had:\n%s", output)
	}
	if output, err := run("test", "-count=1", "."); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	addInvoices(t, dir)
	if output, err := run("vet", "."); err != nil {
		t.Errorf("beside add invoices: %v\n%s", err, output)
	}
}

func TestRecipes_TheDocShowsTheMail(t *testing.T) {
	t.Parallel()
	for name, marks := range map[string][]string{
		"send.go":      {"func (m *mailer) settings", "var invoiceMail"},
		"invoice.go":   {"type mailInvoice", "func (mailInvoice) Kind", "func (m mails) request", "func (m mails) send"},
		"mail_test.go": {"func product"},
	} {
		source, err := os.ReadFile("testdata/mail/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, mark := range marks {
			found := regexp.MustCompile(`(?ms)^` + regexp.QuoteMeta(mark) + `.*?^(\}|$)`).FindString(string(source))
			if found == "" || !strings.Contains(recipes(t), strings.TrimSpace(found)) {
				t.Errorf("RECIPES.md does not show of %s:\n%s", name, found)
			}
		}
	}
}
