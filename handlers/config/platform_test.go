package config_test

import (
	"strings"
	"testing"
)

func TestConfig_AnAppSlugThatCannotBeOne(t *testing.T) {
	t.Parallel()
	for slug, possible := range map[string]bool{
		"acme-billing": true, "Acme.Billing_2": true, "my app": false, "crm/v2": false, `crm\v2`: false, " crm": false, "crm\n": false, "a\x00b": false,
	} {
		env := complete()
		env["APP_SLUG"] = slug
		_, err := load(env)
		if possible && err != nil || !possible && (err == nil || !strings.HasPrefix(err.Error(), "APP_SLUG must be a slug")) {
			t.Errorf("%q: %v", slug, err)
		}
	}
}

// A key that no header takes would fail every sign-in, and the start says so.
func TestConfig_AKeyThatNoHeaderTakes(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"hunter2\nhunter2", "hunter2\x00", "\thunter2"} {
		env := complete()
		env["PLATFORM_API_KEY"] = key
		if _, err := load(env); err == nil || !strings.HasPrefix(err.Error(), "PLATFORM_API_KEY must be one line") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", key, err)
		}
	}
}
