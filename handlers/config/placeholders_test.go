package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// .env.example as it is does not start: every one of its values is named.
func TestConfig_PlaceholdersAreRefused(t *testing.T) {
	t.Parallel()
	env := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^([A-Z_]+)=(.*)$`).FindAllStringSubmatch(envExample(t), -1) {
		env[m[1]] = m[2]
	}
	if len(env) != 7 {
		t.Fatalf("%d required settings", len(env))
	}
	if env["APP_SLUG"] != "change-me" {
		delete(env, "APP_SLUG") // a product's own, which is no secret
	}
	_, err := load(env)
	for name, value := range env {
		if err == nil || !strings.Contains(err.Error(), name+" is still the placeholder") {
			t.Errorf("%s is not refused: %v", name, err)
		}
		one := complete()
		one[name] = value
		if _, err := load(one); err == nil || !strings.Contains(err.Error(), name+" is still the placeholder") {
			t.Errorf("%s alone: %v", name, err)
		}
	}
}

// What is refused for being a placeholder is not warned of as well, for being short
// and equal to the other ones.
func TestConfig_APlaceholderIsSaidOnce(t *testing.T) {
	t.Parallel()
	env := complete()
	env["DATABASE_URL"], env["PLATFORM_API_KEY"], env["WEBHOOK_SECRET"] = "postgres://u:change-me@db/x", "change-me", "change-me"
	c, err := load(env)
	if err == nil || strings.Count(err.Error(), "is still the placeholder") != 3 {
		t.Errorf("%v", err)
	}
	if got := c.Warnings(); len(got) != 0 {
		t.Errorf("and warned of: %q", got)
	}
}

func TestConfig_APlaceholderInAFileIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("change-me\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := complete()
	delete(env, "WEBHOOK_SECRET")
	env["WEBHOOK_SECRET_FILE"] = file
	if _, err := load(env); err == nil || !strings.Contains(err.Error(), "WEBHOOK_SECRET_FILE is still the placeholder") {
		t.Errorf("%v", err)
	}
}

// How long the platform's key and secret are is the platform's affair: a short
// one is said, and served.
func TestConfig_ShortSecretsAreAWarning(t *testing.T) {
	t.Parallel()
	env := complete()
	env["PLATFORM_API_KEY"], env["WEBHOOK_SECRET"], env["WEBHOOK_SECRET_PREVIOUS"] = "k", strings.Repeat("x", 16), "fifteen bytes.."
	c, err := load(env)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(c.Warnings(), "\n")
	if !strings.Contains(got, "PLATFORM_API_KEY is short") || !strings.Contains(got, "WEBHOOK_SECRET_PREVIOUS is short") ||
		strings.Contains(got, "WEBHOOK_SECRET is short") || strings.Contains(got, "fifteen") {
		t.Errorf("warnings are:\n%s", got)
	}
	env["WEBHOOK_SECRET"] = env["WEBHOOK_SECRET"][1:]
	if c, err = load(env); err != nil || !strings.Contains(strings.Join(c.Warnings(), "\n"), "WEBHOOK_SECRET is short") {
		t.Errorf("%q, %v", c.Warnings(), err)
	}
}

func TestConfig_WhatElseIsWarnedOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ setting, value, want string }{
		"public in the clear":   {"PUBLIC_URL", "http://app.example", "PUBLIC_URL is http"},
		"platform in the clear": {"PLATFORM_BASE_URL", "http://p.example", "called by http"},
		"keys in the clear":     {"PLATFORM_JWKS_URL", "http://p.example/keys", "called by http"},
		"everybody a proxy":     {"TRUSTED_PROXIES", "10.0.0.0/8,0.0.0.0/0", "trusts everybody"},
		"this machine":          {"PUBLIC_URL", "http://127.0.0.1:8080", ""},
		"this machine, by name": {"PUBLIC_URL", "http://localhost:8080", ""},
		"this machine, by IPv6": {"PLATFORM_BASE_URL", "http://[::1]:8090", ""},
		"a machine's address":   {"PLATFORM_BASE_URL", "http://10.0.0.7:8090", "called by http"},
		"a name alike":          {"PUBLIC_URL", "http://localhost.example", "PUBLIC_URL is http"},
	} {
		env := complete()
		env["PLATFORM_API_KEY"], env["WEBHOOK_SECRET"] = strings.Repeat("k", 32), strings.Repeat("s", 32)
		env[c.setting] = c.value
		loaded, err := load(env)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(loaded.Warnings(), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestConfig_SettingsOfTheSignIn(t *testing.T) {
	t.Parallel()
	env := complete()
	for limit, want := range map[string]string{
		"0": "", "10000": "", "10001": `LOGIN_RATE_LIMIT must be a whole number from 0 to 10000, not "10001"`,
	} {
		env["LOGIN_RATE_LIMIT"] = limit
		if _, err := load(env); message(err) != want {
			t.Errorf("LOGIN_RATE_LIMIT=%s: %v", limit, err)
		}
	}
	env["LOGIN_RATE_LIMIT"], env["SSO_STATE"], env["PLATFORM_JWKS_URL"] = "-1", "perhaps", "ftp://p.example"
	_, err := load(env)
	for _, name := range []string{"LOGIN_RATE_LIMIT", "SSO_STATE", "PLATFORM_JWKS_URL"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
	env["LOGIN_RATE_LIMIT"], env["SSO_STATE"], env["PLATFORM_JWKS_URL"] = "0", "true", "https://p.example/keys"
	c, err := load(env)
	if err != nil || c.LoginRateLimit != 0 || !c.SSOState || c.PlatformJWKSURL.String() != "https://p.example/keys" {
		t.Errorf("%+v, %v", c, err)
	}
	if c, _ := load(complete()); c.LoginRateLimit != 20 || c.SSOState || c.PlatformJWKSURL != nil {
		t.Errorf("defaults: %d %v %v", c.LoginRateLimit, c.SSOState, c.PlatformJWKSURL)
	}
}
