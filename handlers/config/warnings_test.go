package config_test

import (
	"strings"
	"testing"
)

// Secrets that are one are named in pairs, and never shown.
func TestConfig_EqualSecretsAreAWarning(t *testing.T) {
	t.Parallel()
	env := complete() // three of them are hunter2
	env["WEBHOOK_SECRET"] = strings.Repeat("w", 20)
	env["WEBHOOK_SECRET_PREVIOUS"] = env["WEBHOOK_SECRET"]
	c, err := load(env)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(c.Warnings(), "\n")
	for _, want := range []string{"PLATFORM_API_KEY and the password in DATABASE_URL are equal", "WEBHOOK_SECRET and WEBHOOK_SECRET_PREVIOUS are equal"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "hunter2") || strings.Contains(got, "www") || strings.Count(got, "are equal") != 2 {
		t.Errorf("warnings are:\n%s", got)
	}
}
