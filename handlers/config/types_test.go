package config_test

import (
	"strings"
	"testing"
)

// A list without entries lets nobody in, or finds no event's tenant. That no
// event changes a plan is a meaning, and an empty PLAN_EVENTS has it.
func TestConfig_ListsThatNeedAnEntry(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"WEBHOOK_TENANT_FIELDS=,":         "WEBHOOK_TENANT_FIELDS must have at least one entry",
		"PLAN_FIELDS= , ":                 "PLAN_FIELDS must have at least one entry",
		"ALLOWED_SUBSCRIPTION_STATUSES=,": "ALLOWED_SUBSCRIPTION_STATUSES must have at least one entry",
		"WEBHOOK_TENANT_FIELDS=slug,..a":  `WEBHOOK_TENANT_FIELDS must be paths like slug or data.slug, not "..a"`,
		"WEBHOOK_TENANT_FIELDS=data.":     `WEBHOOK_TENANT_FIELDS must be paths like slug or data.slug, not "data."`,
		"PLAN_FIELDS=..":                  `PLAN_FIELDS must be paths like slug or data.slug, not ".."`,
		"PLAN_EVENTS=,":                   "",
		"WEBHOOK_TENANT_FIELDS=a, b.c,":   "",
	} {
		env := complete()
		name, value, _ := strings.Cut(setting, "=")
		env[name] = value
		_, err := load(env)
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
