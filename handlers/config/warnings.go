package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"

	"github.com/jackc/pgx/v5"
)

// shortSecret is the length in bytes under which a secret may be guessed.
const shortSecret = 16

// Warnings are what serves, and should not stay so in production. None of them
// is a reason to refuse: the platform issues its key and its secret in a form
// that the contract does not show. A placeholder is one, and said already.
func (c Config) Warnings() (warnings []string) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	secrets := []namedSecret{
		{"PLATFORM_API_KEY", c.PlatformAPIKey.Reveal()}, {"WEBHOOK_SECRET", c.WebhookSecret.Reveal()},
		{"WEBHOOK_SECRET_PREVIOUS", c.WebhookSecretPrevious.Reveal()},
	}
	for _, s := range secrets {
		if n := len(s.value); n > 0 && n < shortSecret && placeholder(s.value) == nil {
			warn("%s is short (under %d bytes): it might be guessed", s.name, shortSecret)
		}
	}
	if inTheClear(c.PublicURL) {
		warn("PUBLIC_URL is http: cookies can be read and set by anybody on the way")
	}
	if inTheClear(c.PlatformBaseURL) || inTheClear(c.PlatformJWKSURL) {
		warn("the platform is called by http: its key and its answers can be read and changed on the way")
	}
	for _, p := range c.TrustedProxies {
		if p.Bits() == 0 {
			warn("TRUSTED_PROXIES trusts everybody: any client can give itself any address")
		}
	}
	if parsed, err := pgx.ParseConfig(c.DatabaseURL.Reveal()); err == nil {
		secrets = append(secrets, namedSecret{"the password in DATABASE_URL", parsed.Password})
	}
	return slices.Concat(warnings, equal(secrets), c.misspelt)
}

type namedSecret struct{ name, value string }

// equal warns of secrets that are one: who learns it at one place has it for the
// other.
func equal(secrets []namedSecret) (warnings []string) {
	names := map[string]string{} // by value
	for _, s := range secrets {
		if other := names[s.value]; other != "" && s.value != "" && placeholder(s.value) == nil {
			warnings = append(warnings, fmt.Sprintf("%s and %s are equal: give each a value of its own", other, s.name))
		}
		names[s.value] = s.name
	}
	return warnings
}

// inTheClear reports whether what goes to u leaves this machine unencrypted.
func inTheClear(u *url.URL) bool {
	if u == nil || u.Scheme != "http" || u.Hostname() == "localhost" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return ip == nil || !ip.IsLoopback()
}
