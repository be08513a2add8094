package config_test

import (
	"strings"
	"testing"
)

func TestConfig_APortOutOfRangeIsNamed(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"PORT=99999":                   `PORT must be a port from 0 to 65535, not "99999"`,
		"PORT=65536":                   `PORT must be a port from 0 to 65535, not "65536"`,
		"PORT=-1":                      `PORT must be a port from 0 to 65535, not "-1"`,
		"PORT=65535":                   "",
		"PORT=0":                       "",
		"PUBLIC_URL=http://h:65536":    "PUBLIC_URL must have a port from 1 to 65535, not 65536",
		"PUBLIC_URL=http://h:65535":    "",
		"METRICS_ADDR=:-1":             `METRICS_ADDR must be like :9090 or 127.0.0.1:9090, not ":-1"`,
		"LISTEN_ADDR=:99999":           `LISTEN_ADDR must be like :8080 or 127.0.0.1:8080, not ":99999"`,
		"PUBLIC_URL=http://h:99999":    "PUBLIC_URL must have a port from 1 to 65535, not 99999",
		"PLATFORM_URL=http://h:0/path": "PLATFORM_URL must have a port from 1 to 65535, not 0",
	} {
		env := complete()
		name, value, _ := strings.Cut(setting, "=")
		env[name] = value
		if _, err := load(env); message(err) != want {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

// message is empty where there is no error.
func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Routes are added to an address: what would end up in front of them, or behind,
// is refused.
func TestConfig_AddressesThatNoPathCanBeAddedTo(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"PUBLIC_URL=https://app.example/billing":     `PUBLIC_URL must have no path, not "/billing"`,
		"PUBLIC_URL=https://app.example/":            "",
		"PLATFORM_URL=https://p.example/sso":         "",
		"PLATFORM_URL=https://p.example/#top":        `PLATFORM_URL must be like https://host or https://host/path, not "https://p.example/#top"`,
		"PLATFORM_BASE_URL=https://p.example#x":      `PLATFORM_BASE_URL must be like https://host or https://host/path, not "https://p.example#x"`,
		"PUBLIC_URL=https://app.example?tenant=acme": `PUBLIC_URL must be like https://host or https://host/path, not "https://app.example?tenant=acme"`,
	} {
		env := complete()
		name, value, _ := strings.Cut(setting, "=")
		env[name] = value
		if _, err := load(env); message(err) != want {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
