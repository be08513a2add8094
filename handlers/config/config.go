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
	PlanEvents            []string // types of the events that change a tenant's plan
	PlanFields            []string // where the plan may stand in an event

	AllowedStatuses   []string
	TenantStatusField string
	PlatformJWKSURL   *url.URL // nil: bearer tokens are not accepted
	SSOState          bool
	SessionLifetime   time.Duration
	LoginRateLimit    int // a second and client address; 0: none

	ListenAddr      string
	MetricsAddr     string        // empty: no metrics
	DrainDelay      time.Duration // how long requests are still served after SIGTERM; may be 0
	ShutdownTimeout time.Duration
	IdleTimeout     time.Duration // of a connection between two requests
	TrustedProxies  []netip.Prefix
	LogLevel        slog.Level
	LogFormat       string

	misspelt []string // warnings
}

// Lookup reads one environment variable, as os.LookupEnv does.
type Lookup func(name string) (string, bool)

// Load reads the configuration and the product's settings. The error names
// everything that is missing or wrong, and never shows a secret's value.
func Load(env Lookup, product ...func(*Reader)) (Config, error) {
	r := NewReader(env)
	c, err := load(r, env, product)
	c.misspelt = r.misspelt()
	return c, err
}

// LoadDev is Load for dev and tests: own are the template's settings, and the
// product's come from env or are what they declare for dev.
func LoadDev(own, env Lookup, product ...func(*Reader)) (Config, error) {
	r := NewReader(own)
	r.dev = true
	return load(r, env, product)
}

func load(r *Reader, env Lookup, product []func(*Reader)) (Config, error) {
	c := r.own()
	r.check("DATABASE_URL", validDatabaseURL(c.DatabaseURL.Reveal()))
	r.env = env
	r.product(product)
	return c, r.Err()
}

// product reads settings that are not ours; nil is a product that has none.
func (r *Reader) product(settings []func(*Reader)) {
	for _, read := range settings {
		if read != nil {
			read(r)
		}
	}
}

// own reads the settings of the template.
func (r *Reader) own() Config {
	return Config{
		DatabaseURL:      r.RequiredSecret("DATABASE_URL", ""),
		DatabaseMaxConns: r.between("DATABASE_MAX_CONNS", 16, LeastConns, 10_000),
		MigrateOnStart:   r.Bool("MIGRATE_ON_START", true),

		AppSlug:         r.appSlug("APP_SLUG"),
		PublicURL:       r.origin("PUBLIC_URL"),
		PlatformURL:     r.RequiredURL("PLATFORM_URL", ""),
		PlatformBaseURL: r.RequiredURL("PLATFORM_BASE_URL", ""),
		PlatformAPIKey:  r.headerSecret("PLATFORM_API_KEY"),

		WebhookSecret:         r.RequiredSecret("WEBHOOK_SECRET", ""),
		WebhookSecretPrevious: r.Secret("WEBHOOK_SECRET_PREVIOUS"),
		WebhookTenantFields:   r.paths("WEBHOOK_TENANT_FIELDS", "tenantSlug,data.tenantSlug,tenant.slug,data.tenant.slug,slug,data.slug"),
		EventRetention:        r.Duration("EVENT_RETENTION", 90*24*time.Hour),
		PlanEvents:            r.planEvents(),
		PlanFields:            r.paths("PLAN_FIELDS", "planType,data.planType,subscription.planType"),

		AllowedStatuses:   r.listOfSome("ALLOWED_SUBSCRIPTION_STATUSES", "Active"),
		TenantStatusField: r.Text("TENANT_STATUS_FIELD", "tenantStatus"),
		PlatformJWKSURL:   r.URL("PLATFORM_JWKS_URL", ""),
		SSOState:          r.Bool("SSO_STATE", false),
		SessionLifetime:   r.Duration("SESSION_LIFETIME", 12*time.Hour),
		LoginRateLimit:    r.between("LOGIN_RATE_LIMIT", 20, 0, 10_000),

		ListenAddr:      r.listenAddr("LISTEN_ADDR", "PORT", ":8080"),
		MetricsAddr:     r.metricsAddr("METRICS_ADDR"),
		DrainDelay:      r.duration("DRAIN_DELAY", 5*time.Second, 0),
		ShutdownTimeout: r.Duration("SHUTDOWN_TIMEOUT", 15*time.Second),
		IdleTimeout:     r.Duration("IDLE_TIMEOUT", 2*time.Minute),
		TrustedProxies:  r.prefixes("TRUSTED_PROXIES"),
		LogLevel:        r.level("LOG_LEVEL", slog.LevelInfo),
		LogFormat:       r.Choice("LOG_FORMAT", "json", "text"),
	}
}

// LeastConns is how many connections one replica cannot run without: two for
// the inbox, and one each for the health probe, the sessions, the tenants that are
// made and migrated, and the requests.
const LeastConns = 6

// CallbackURL is {callback_url}: where the platform sends a browser back to.
func (c Config) CallbackURL() string { return c.PublicURL.JoinPath("/sso/callback").String() }

// Secure reports whether browsers reach this server by https.
func (c Config) Secure() bool { return c.PublicURL.Scheme == "https" }

// Names lists every setting of the template.
func Names() []string {
	r := NewReader(func(string) (string, bool) { return "", false })
	r.own()
	return r.names
}
