// Package config is the server's configuration: environment variables, read
// once, typed and validated as a whole.
package config

import (
	"log/slog"
	"net/netip"
	"net/url"
	"time"
)

// Config holds every setting. The README and .env.example say what each is for.
type Config struct {
	DatabaseURL      Secret
	DatabaseMaxConns int
	MigrateOnStart   bool

	AppSlug         string
	PublicURL       *url.URL
	PlatformURL     *url.URL
	PlatformBaseURL *url.URL
	PlatformAPIKey  Secret

	WebhookSecret         Secret
	WebhookSecretPrevious Secret
	WebhookTenantFields   []string
	EventRetention        time.Duration

	AllowedStatuses   []string
	TenantStatusField string
	PlatformJWKSURL   *url.URL // nil: bearer tokens are not accepted
	SSOState          bool
	SessionLifetime   time.Duration
	LoginRateLimit    int // a second and client address; 0: none

	ListenAddr      string
	ShutdownTimeout time.Duration
	TrustedProxies  []netip.Prefix
	LogLevel        slog.Level
	LogFormat       string
}

// Lookup reads one environment variable, as os.LookupEnv does.
type Lookup func(name string) (string, bool)

// Load reads the configuration. The error names everything that is missing or
// wrong, and never shows a secret's value.
func Load(env Lookup) (Config, error) {
	r := &reader{env: env}
	c := load(r)
	r.check("DATABASE_URL", validDatabaseURL(c.DatabaseURL.Reveal()))
	return c, r.err()
}

func load(r *reader) Config {
	return Config{
		DatabaseURL:      newSecret(r.secret("DATABASE_URL", required)),
		DatabaseMaxConns: r.count("DATABASE_MAX_CONNS", 16),
		MigrateOnStart:   r.boolean("MIGRATE_ON_START", true),

		AppSlug:         r.text("APP_SLUG", required),
		PublicURL:       r.origin("PUBLIC_URL"),
		PlatformURL:     r.url("PLATFORM_URL"),
		PlatformBaseURL: r.url("PLATFORM_BASE_URL"),
		PlatformAPIKey:  newSecret(r.secret("PLATFORM_API_KEY", required)),

		WebhookSecret:         newSecret(r.secret("WEBHOOK_SECRET", required)),
		WebhookSecretPrevious: newSecret(r.secret("WEBHOOK_SECRET_PREVIOUS", "")),
		WebhookTenantFields:   r.list("WEBHOOK_TENANT_FIELDS", "tenantSlug,data.tenantSlug,tenant.slug,data.tenant.slug,slug,data.slug"),
		EventRetention:        r.duration("EVENT_RETENTION", 90*24*time.Hour),

		AllowedStatuses:   r.list("ALLOWED_SUBSCRIPTION_STATUSES", "Active"),
		TenantStatusField: r.text("TENANT_STATUS_FIELD", "tenantStatus"),
		PlatformJWKSURL:   r.optionalURL("PLATFORM_JWKS_URL"),
		SSOState:          r.boolean("SSO_STATE", false),
		SessionLifetime:   r.duration("SESSION_LIFETIME", 12*time.Hour),
		LoginRateLimit:    r.number("LOGIN_RATE_LIMIT", 20, 0),

		ListenAddr:      r.listenAddr("LISTEN_ADDR", "PORT", ":8080"),
		ShutdownTimeout: r.duration("SHUTDOWN_TIMEOUT", 15*time.Second),
		TrustedProxies:  r.prefixes("TRUSTED_PROXIES"),
		LogLevel:        r.level("LOG_LEVEL", slog.LevelInfo),
		LogFormat:       r.choice("LOG_FORMAT", "json", "text"),
	}
}

// CallbackURL is {callback_url}: where the platform sends a browser back to.
func (c Config) CallbackURL() string { return c.PublicURL.JoinPath("/sso/callback").String() }

// Secure reports whether browsers reach this server by https.
func (c Config) Secure() bool { return c.PublicURL.Scheme == "https" }

// Names lists every setting.
func Names() []string {
	r := &reader{env: func(string) (string, bool) { return "", false }}
	load(r)
	return r.names
}
