// Package handlertest runs the whole server of a product against a real
// PostgreSQL and the platform simulator, for tests of handlers. The package
// fixture beneath it is a product for the template's own tests.
package handlertest

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/health"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// Site is a running server with its platform.
type Site struct {
	URL      string // of the server
	Database string // URL of its database
	Platform *simulator.Platform
	Config   config.Config

	product  server.Product
	env      map[string]string
	platform *httptest.Server
}

// Setup is what a test may change before its site starts.
type Setup struct {
	Env      map[string]string // settings beside the generated ones, the product's too
	Serve    server.Options
	Platform simulator.Options
	Log      io.Writer // gets the server's log too, which a failing test prints; may be nil
	Database string    // URL; empty: a new one
	Jobs     bool      // the server works its background jobs; else RunJobs does
}

// Secrets that every site is wired with.
const (
	WebhookSecret = "webhook-secret-of-the-tests"
	APIKey        = "api-key-of-the-tests"
)

// Start starts a site of the product that ends with the test, and waits until
// it is ready.
func Start(t testing.TB, p server.Product, s Setup) *Site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	site := &Site{URL: "http://" + l.Addr().String(), Database: s.Database, product: p}
	if site.Database == "" {
		site.Database = pgtest.URL(t)
	}
	site.startPlatform(t, s.Platform)
	site.configure(t, s.Env)
	site.serve(t, l, s)
	site.await(t)
	return site
}

// Replica starts one more server on the same database and platform, of the same
// product or another version of it.
func (s *Site) Replica(t testing.TB, p server.Product, setup Setup) *Site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	replica := *s
	replica.product = p
	replica.URL = "http://" + l.Addr().String()
	replica.configure(t, setup.Env)
	replica.serve(t, l, setup)
	replica.await(t)
	return &replica
}

func (s *Site) startPlatform(t testing.TB, o simulator.Options) {
	o.Product = simulator.Product{
		Slug: s.product.Slug, Name: s.product.Name, APIKey: APIKey, WebhookSecret: WebhookSecret,
		WebhookURL: s.URL + "/webhooks/platform", CallbackURL: s.URL + "/sso/callback", HealthURL: s.URL + "/healthz",
	}
	o.HealthInterval = -1
	platform, err := simulator.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Platform = platform
	s.platform = httptest.NewServer(platform.Handler())
	t.Cleanup(s.platform.Close)
	background(t, func(ctx context.Context) { _ = platform.Run(ctx) })
}

func (s *Site) configure(t testing.TB, extra map[string]string) {
	s.env = map[string]string{
		"DATABASE_URL": s.Database, "APP_SLUG": s.product.Slug, "PUBLIC_URL": s.URL,
		"PLATFORM_URL": s.platform.URL, "PLATFORM_BASE_URL": s.platform.URL,
		"PLATFORM_API_KEY": APIKey, "WEBHOOK_SECRET": WebhookSecret,
		"LOGIN_RATE_LIMIT": "0", // all browsers of a test have one address
	}
	maps.Copy(s.env, extra)
	env := func(name string) (string, bool) { v, ok := s.env[name]; return v, ok }
	c, err := config.LoadDev(env, env, s.product.Settings)
	if err != nil {
		t.Fatal(err)
	}
	s.Config = c
}

func (s *Site) serve(t testing.TB, l net.Listener, setup Setup) {
	var kept Log
	kept.printWhenFailed(t, s.URL)
	out := io.Writer(&kept)
	if setup.Log != nil {
		out = io.MultiWriter(&kept, setup.Log)
	}
	setup.Serve.NoJobs = !setup.Jobs
	log := slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	background(t, func(ctx context.Context) {
		if err := server.Serve(ctx, s.product, s.Config, l, log, setup.Serve); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

// background runs fn until the test ends, and waits for it then.
func background(t testing.TB, fn func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); fn(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

func (s *Site) await(t testing.TB) {
	t.Helper()
	Await(t, "the site is ready", func() bool {
		return health.Check(t.Context(), s.URL[len("http://"):]) == nil
	})
}

// Await polls until the condition holds, and fails the test after 20 seconds.
func Await(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
