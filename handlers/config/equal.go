package config

import (
	"fmt"

	"github.com/jackc/pgx/v5"
)

// equalSecrets warns of secrets that are one: who learns it at one place has it
// for the other.
func (c Config) equalSecrets() (warnings []string) {
	password := ""
	if parsed, err := pgx.ParseConfig(c.DatabaseURL.Reveal()); err == nil {
		password = parsed.Password
	}
	names := map[string]string{} // by value
	for _, s := range []struct{ name, value string }{
		{"PLATFORM_API_KEY", c.PlatformAPIKey.Reveal()}, {"WEBHOOK_SECRET", c.WebhookSecret.Reveal()},
		{"WEBHOOK_SECRET_PREVIOUS", c.WebhookSecretPrevious.Reveal()}, {"the password in DATABASE_URL", password},
	} {
		if other := names[s.value]; other != "" && s.value != "" {
			warnings = append(warnings, fmt.Sprintf("%s and %s are equal: give each a value of its own", other, s.name))
		}
		names[s.value] = s.name
	}
	return warnings
}
