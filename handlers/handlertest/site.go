// Package handlertest runs the whole server against a real PostgreSQL and the
// platform simulator, for tests of handlers.
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

	"example.com/subproduct/handlers"
	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// Site is a running server with its platform.
type Site struct {
	URL      string // of the server
	Database string // URL of its database
	Platform *simulator.Platform
	Config   config.Config

	env      map[string]string
	platform *httptest.Server
}

// Setup is what a test may change before its site starts.
type Setup struct {
	Env      map[string]string // settings beside the generated ones
	Serve    handlers.ServeOptions
	Platform simulator.Options
	Log      io.Writer // nil: discarded
	Database string    // URL; empty: a new one
}

// Secrets that every site is wired with.
const (
	WebhookSecret = "webhook-secret-of-the-tests"
	APIKey        = "api-key-of-the-tests"
	AppSlug       = "subproduct"
)

// Start starts a site that ends with the test, and waits until it is ready.
func Start(t testing.TB, s Setup) *Site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	site := &Site{URL: "http://" + l.Addr().String(), Database: s.Database}
	if site.Database == "" {
		site.Database = pgtest.URL(t)
	}
	site.startPlatform(t, s.Platform)
	site.configure(t, s.Env)
	site.serve(t, l, s)
	site.await(t)
	return site
}

// Replica starts one more server on the same database and platform.
func (s *Site) Replica(t testing.TB, setup Setup) *Site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	replica := *s
	replica.URL = "http://" + l.Addr().String()
	replica.configure(t, setup.Env)
	replica.serve(t, l, setup)
	replica.await(t)
	return &replica
}

func (s *Site) startPlatform(t testing.TB, o simulator.Options) {
	o.Product = simulator.Product{
		Slug: AppSlug, Name: "Subproduct", APIKey: APIKey, WebhookSecret: WebhookSecret,
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
		"DATABASE_URL": s.Database, "APP_SLUG": AppSlug, "PUBLIC_URL": s.URL,
		"PLATFORM_URL": s.platform.URL, "PLATFORM_BASE_URL": s.platform.URL,
		"PLATFORM_API_KEY": APIKey, "WEBHOOK_SECRET": WebhookSecret,
		"LOGIN_RATE_LIMIT": "0", // all browsers of a test have one address
	}
	maps.Copy(s.env, extra)
	c, err := config.Load(func(name string) (string, bool) { v, ok := s.env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	s.Config = c
}

func (s *Site) serve(t testing.TB, l net.Listener, setup Setup) {
	if setup.Log == nil {
		setup.Log = io.Discard
	}
	log := slog.New(slog.NewJSONHandler(setup.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	background(t, func(ctx context.Context) {
		if err := handlers.Serve(ctx, s.Config, l, log, setup.Serve); err != nil {
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
		return config.CheckHealth(t.Context(), s.URL[len("http://"):]) == nil
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
