package config_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/subproduct/handlers/config"
)

// complete is the least that serve needs.
func complete() map[string]string {
	return map[string]string{
		"DATABASE_URL": "postgres://u:hunter2@db/x", "APP_SLUG": "app", "PUBLIC_URL": "https://app.example",
		"PLATFORM_URL": "https://p.example", "PLATFORM_BASE_URL": "https://p.example", "PLATFORM_API_KEY": "hunter2", "WEBHOOK_SECRET": "hunter2",
	}
}

func load(env map[string]string) (config.Config, error) {
	return config.Load(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
}

func TestConfig_Defaults(t *testing.T) {
	t.Parallel()
	c, err := load(complete())
	if err != nil {
		t.Fatal(err)
	}
	if c.ListenAddr != ":8080" || c.DatabaseMaxConns != 16 || !c.MigrateOnStart || c.SessionLifetime != 12*time.Hour ||
		c.ShutdownTimeout != 15*time.Second || !slices.Equal(c.AllowedStatuses, []string{"Active"}) || c.TenantStatusField != "tenantStatus" ||
		c.LogLevel != slog.LevelInfo || c.LogFormat != "json" || !c.Secure() || c.CallbackURL() != "https://app.example/sso/callback" {
		t.Errorf("defaults are %+v", c)
	}
}

func TestConfig_OneMessageNamesEverythingThatIsWrong(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"DATABASE_URL": "mysql://u:hunter2@db", "PUBLIC_URL": "app.example", "PLATFORM_URL": "https://p.example/?q=1", "LISTEN_ADDR": "8080",
		"DATABASE_MAX_CONNS": "0", "MIGRATE_ON_START": "maybe", "SESSION_LIFETIME": "12", "TRUSTED_PROXIES": "10.0.0.0/8,nonsense", "LOG_LEVEL": "loud",
		"LOG_FORMAT": "xml", "SHUTDOWN_TIMEOUT": "-1s", "METRICS_ADDR": "9090", "WEBHOOK_SECRET_FILE": "/does/not/exist", "EVENT_RETENTION": "soon",
	}
	_, err := load(env)
	if err == nil {
		t.Fatal("accepted")
	}
	for name := range env {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named in:\n%v", name, err)
		}
	}
	for _, missing := range []string{"APP_SLUG is not set", "PLATFORM_BASE_URL is not set", "PLATFORM_API_KEY is not set"} {
		if !strings.Contains(err.Error(), missing) {
			t.Errorf("no %q in:\n%v", missing, err)
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a secret is shown:\n%v", err)
	}
}

// Too few connections to run are refused, and more than any server has; the
// least that works is named.
func TestConfig_TooFewConnectionsAreRefused(t *testing.T) {
	t.Parallel()
	for conns, want := range map[string]bool{"0": false, "1": false, "5": false, "6": true, "16": true, "10000": true, "10001": false} {
		env := complete()
		env["DATABASE_MAX_CONNS"] = conns
		_, err := load(env)
		if got := err == nil; got != want || err != nil && !strings.Contains(err.Error(), "DATABASE_MAX_CONNS must be a whole number from 6") {
			t.Errorf("%s: %v", conns, err)
		}
	}
}

func TestConfig_SecretsFromFiles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("from the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := complete()
	delete(env, "WEBHOOK_SECRET")
	env["WEBHOOK_SECRET_FILE"] = file
	c, err := load(env)
	if err != nil || c.WebhookSecret.Reveal() != "from the file" {
		t.Errorf("%q, %v", c.WebhookSecret.Reveal(), err)
	}
	env["WEBHOOK_SECRET"] = "too"
	if _, err := load(env); err == nil || !strings.Contains(err.Error(), "both set") {
		t.Errorf("both at once: %v", err)
	}
	delete(env, "WEBHOOK_SECRET")
	if err := os.WriteFile(file, []byte("\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(env); message(err) != "WEBHOOK_SECRET_FILE names an empty file" {
		t.Errorf("an empty one: %v", err)
	}
}

func TestConfig_LogFormat(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		env := complete()
		env["LOG_FORMAT"] = format
		if c, err := load(env); err != nil || c.LogFormat != format {
			t.Errorf("%s: %q, %v", format, c.LogFormat, err)
		}
	}
}

func TestConfig_PortAlone(t *testing.T) {
	t.Parallel()
	env := complete()
	env["PORT"] = "9000"
	if c, err := load(env); err != nil || c.ListenAddr != ":9000" {
		t.Errorf("PORT: %s, %v", c.ListenAddr, err)
	}
	env["LISTEN_ADDR"] = "127.0.0.1:1"
	if c, err := load(env); err != nil || c.ListenAddr != "127.0.0.1:1" {
		t.Errorf("both: %s, %v", c.ListenAddr, err)
	}
}

func TestConfig_ASecretIsNeverShown(t *testing.T) {
	t.Parallel()
	c, err := load(complete())
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", c, "secret", c.WebhookSecret)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", c, "secret", c.WebhookSecret)
	asJSON, _ := json.Marshal(c)
	hidden := struct{ c config.Config }{c}
	shown := log.String() + string(asJSON) + fmt.Sprintf("%v %+v %#v %s %x %d %q", c, c, c, c.WebhookSecret, c.WebhookSecret, c.WebhookSecret, c.WebhookSecret) +
		fmt.Sprintf("%v %+v %#v", hidden, hidden, hidden)
	if strings.Contains(shown, "hunter2") || strings.Contains(shown, fmt.Sprintf("%x", "hunter2")) {
		t.Errorf("shown in %s", shown)
	}
	if !strings.Contains(shown, "***") {
		t.Error("the test shows nothing at all")
	}
}

// envExample is .env.example without what a product adds at its end.
func envExample(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("../../.env.example")
	if err != nil {
		t.Fatal(err)
	}
	ours, _, _ := strings.Cut(string(content), "# --- Your product's own")
	return ours
}

// .env.example documents every setting and no other, with its default.
func TestConfig_EnvExampleIsComplete(t *testing.T) {
	t.Parallel()
	env := complete()
	var documented []string
	for _, m := range regexp.MustCompile(`(?m)^(#?)([A-Z_]+)=(.*)$`).FindAllStringSubmatch(envExample(t), -1) {
		documented = append(documented, m[2])
		if m[1] == "#" {
			env[m[2]] = m[3]
		}
	}
	if got, want := slices.Sorted(slices.Values(documented)), slices.Sorted(slices.Values(config.Names())); !slices.Equal(got, want) {
		t.Errorf(".env.example has\n%v\nand the settings are\n%v", got, want)
	}
	shown, err := load(env)
	if err != nil {
		t.Fatal(err)
	}
	defaults, _ := load(complete())
	if fmt.Sprintf("%+v", values(shown)) != fmt.Sprintf("%+v", values(defaults)) {
		t.Errorf("the defaults that .env.example shows are not the defaults:\n%+v\n%+v", values(shown), values(defaults))
	}
}

// values is a configuration without its pointers.
func values(c config.Config) config.Config {
	c.PublicURL, c.PlatformURL, c.PlatformBaseURL = nil, nil, nil
	return c
}

func TestConfig_DotEnvIsReadBeside(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(file, []byte("A=from file\nB=from file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env, err := config.WithDotEnv(func(name string) (string, bool) { return "from env", name == "A" }, file)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := env("A")
	b, _ := env("B")
	if _, ok := env("C"); a != "from env" || b != "from file" || ok {
		t.Errorf("A %q, B %q, C %v", a, b, ok)
	}
}
