package config_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/subproduct/handlers/config"
)

// mail is a product's settings, declared as the template's are.
type mail struct {
	server  *url.URL
	from    string
	key     config.Secret
	batch   int
	every   time.Duration
	copies  []string
	enabled bool
}

func (m *mail) read(r *config.Reader) {
	m.server = r.RequiredURL("MAIL_SERVER", "http://127.0.0.1:1025")
	m.from = r.RequiredText("MAIL_FROM", "dev@product.example")
	m.key = r.RequiredSecret("MAIL_KEY", "key-for-dev")
	m.batch = r.Int("MAIL_BATCH", 50)
	m.every = r.Duration("MAIL_EVERY", time.Minute)
	m.copies = r.List("MAIL_COPIES", "")
	m.enabled = r.Bool("MAIL_ENABLED", true)
}

func lookup(env map[string]string) config.Lookup {
	return func(name string) (string, bool) { v, ok := env[name]; return v, ok }
}

// What is wrong with a product's setting stands in the one list of errors,
// beside what is wrong with the template's.
func TestReader_AProductsSettingIsInTheListOfErrors(t *testing.T) {
	t.Parallel()
	env := complete()
	delete(env, "APP_SLUG") // the template's own
	env["MAIL_BATCH"], env["MAIL_SERVER"] = "many", "change-me"
	var m mail
	_, err := config.Load(lookup(env), m.read)
	for _, want := range []string{
		"APP_SLUG is not set", "MAIL_SERVER is still the placeholder", "MAIL_FROM is not set", "MAIL_KEY is not set (nor MAIL_KEY_FILE)", "MAIL_BATCH must be a whole number",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

func TestReader_ValuesAreTypedAndSecretsComeFromFiles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("from the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := complete()
	for name, value := range map[string]string{
		"MAIL_SERVER": "https://mail.example", "MAIL_FROM": "us@x.example", "MAIL_KEY_FILE": file, "MAIL_BATCH": "7", "MAIL_EVERY": "5s",
		"MAIL_COPIES": "a, b,", "MAIL_ENABLED": "false",
	} {
		env[name] = value
	}
	var m mail
	if _, err := config.Load(lookup(env), m.read); err != nil {
		t.Fatal(err)
	}
	if m.server.Host != "mail.example" || m.from != "us@x.example" || m.key.Reveal() != "from the file" || m.batch != 7 ||
		m.every != 5*time.Second || strings.Join(m.copies, "+") != "a+b" || m.enabled {
		t.Errorf("%+v", m)
	}
}

// In dev and tests a required setting has the value that it declares for them,
// unless the environment has another; the template's settings are given apart.
func TestReader_InDevARequiredSettingHasAValue(t *testing.T) {
	t.Parallel()
	var m mail
	env := map[string]string{"MAIL_FROM": "mine@x.example", "APP_SLUG": "not this"}
	c, err := config.LoadDev(lookup(complete()), lookup(env), m.read)
	if err != nil {
		t.Fatal(err)
	}
	if m.from != "mine@x.example" || m.key.Reveal() != "key-for-dev" || m.server.Port() != "1025" || c.AppSlug != "app" {
		t.Errorf("%+v, slug %s", m, c.AppSlug)
	}
	if _, err := config.LoadDev(lookup(nil), lookup(nil)); err == nil || !strings.Contains(err.Error(), "DATABASE_URL is not set") {
		t.Errorf("the template's own have no value for dev: %v", err)
	}
}

func TestReader_ANameIsDeclaredOnce(t *testing.T) {
	t.Parallel()
	_, err := config.Load(lookup(complete()), func(r *config.Reader) { r.Text("APP_SLUG", "") })
	if err == nil || !strings.Contains(err.Error(), "APP_SLUG is declared twice") {
		t.Errorf("%v", err)
	}
}

// A file that is no secret, a device or a program named by mistake, is refused
// without being read to an end that it may not have.
func TestReader_AFileThatIsNoSecret(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		strings.Repeat("x", 64<<10):   "",
		strings.Repeat("x", 64<<10+1): "names a file of more than 64 KiB",
		"hunter2\x00hunter2":          "names a file with zero bytes",
	} {
		file := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		env := complete()
		delete(env, "WEBHOOK_SECRET")
		env["WEBHOOK_SECRET_FILE"] = file
		_, err := load(env)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), "WEBHOOK_SECRET_FILE "+want) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%.20q: %v, want %q", content, err, want)
		}
	}
}
