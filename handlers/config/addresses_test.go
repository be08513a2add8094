package config_test

import (
	"strings"
	"testing"
)

func TestConfig_APortOutOfRangeIsNamed(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"PORT=99999":                   `PORT must be a port from 0 to 65535, not "99999"`,
		"LISTEN_ADDR=:99999":           `LISTEN_ADDR must be like :8080 or 127.0.0.1:8080, not ":99999"`,
		"PUBLIC_URL=http://h:99999":    "PUBLIC_URL must have a port from 1 to 65535, not 99999",
		"PLATFORM_URL=http://h:0/path": "PLATFORM_URL must have a port from 1 to 65535, not 0",
	} {
		env := complete()
		name, value, _ := strings.Cut(setting, "=")
		env[name] = value
		if _, err := load(env); err == nil || err.Error() != want {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
