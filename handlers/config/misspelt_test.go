package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/subproduct/handlers/config"
)

// Settings of the template and of the product, from the environment and from
// .env, with each kind of slip; what is read is none, however alike.
func TestMisspelt_SettingsAreNamedAtStart(t *testing.T) {
	t.Parallel()
	env := complete()
	for name, value := range map[string]string{
		"MAIL_FROM": "us@x.example", "MAIL_SERVER": "https://mail.example", "MAIL_KEY": "long-enough-to-be-a-key", // read
		"MAIL_FORM": "swapped", "SESSION_LIFETIM": "missing", "LOG_LEVELS": "too many", "DRAIN_DELEY": "wrong", "WEBHOOK_SECRET_FILES": "of a file",
		"SHUTDOWN_TIMEOU": "", "MAIL_FORMAT": "far away", "PATH": "/bin",
	} {
		env[name] = value
	}
	file := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(file, []byte("TRUSTED_PROXIE=10.0.0.0/8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	both, err := config.WithDotEnv(lookup(env), file)
	if err != nil {
		t.Fatal(err)
	}
	var m mail
	c, err := config.Load(both, m.read)
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, warning := range c.Warnings() {
		if name, rest, found := strings.Cut(warning, " is set and nobody reads it: is "); found {
			named = append(named, name+" "+strings.TrimSuffix(rest, " meant?"))
		}
	}
	want := []string{"DRAIN_DELEY DRAIN_DELAY", "LOG_LEVELS LOG_LEVEL", "MAIL_FORM MAIL_FROM", "SESSION_LIFETIM SESSION_LIFETIME",
		"TRUSTED_PROXIE TRUSTED_PROXIES", "WEBHOOK_SECRET_FILES WEBHOOK_SECRET_FILE"}
	if !slices.Equal(named, want) {
		t.Errorf("named:\n%q, want\n%q", named, want)
	}
}

func TestConfig_DrainDelayMayBeNone(t *testing.T) {
	t.Parallel()
	env := complete()
	if c, err := load(env); err != nil || c.DrainDelay.String() != "5s" {
		t.Errorf("%v, %v", c.DrainDelay, err)
	}
	env["DRAIN_DELAY"] = "0s"
	if c, err := load(env); err != nil || c.DrainDelay != 0 {
		t.Errorf("%v, %v", c.DrainDelay, err)
	}
	env["DRAIN_DELAY"] = "-1s"
	if _, err := load(env); err == nil || !strings.Contains(err.Error(), "DRAIN_DELAY must be a duration, 0s or like") {
		t.Error(err)
	}
}
