package handlertest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// subscription is what a tenant is subscribed to.
type subscription struct{ plan string }

// Option changes what a tenant is subscribed to.
type Option func(*subscription)

// Plan is the plan that the tenant has; without it that is Pro.
func Plan(name string) Option { return func(s *subscription) { s.plan = name } }

// Subscribe has the platform create a subscription for a tenant with one user,
// whose id is "u-" and the slug, and deliver the event.
func (s *Site) Subscribe(t testing.TB, slug string, options ...Option) {
	t.Helper()
	what := subscription{plan: "Pro"}
	for _, o := range options {
		o(&what)
	}
	s.Platform.AddTenant(slug, slug, "", simulator.User{ID: "u-" + slug, Email: "user@" + slug + ".example"})
	delivery, err := s.Platform.Subscribe(t.Context(), slug, what.plan)
	if err != nil || delivery.Status != simulator.DeliveryDelivered {
		t.Fatalf("subscription of %s: %+v, %v; the event's last error: %s", slug, delivery.Attempts, err, s.lastError(t, slug))
	}
}

// lastError is why a tenant's newest event has failed: a migration, for example.
func (s *Site) lastError(t testing.TB, slug string) string {
	t.Helper()
	return Query[string](t, s, `SELECT coalesce(
		(SELECT last_error FROM public.webhook_events WHERE tenant_slug = $1 ORDER BY id DESC LIMIT 1), 'none')`, slug)
}

// SignIn subscribes a tenant unless it is, and returns a browser in which its
// user is signed in. Options count where it subscribes.
func (s *Site) SignIn(t testing.TB, slug string, options ...Option) *Browser {
	t.Helper()
	if !slices.ContainsFunc(s.Platform.Tenants(), func(t simulator.Tenant) bool { return t.Slug == slug }) {
		s.Subscribe(t, slug, options...)
	}
	b := s.Browser(t)
	if answer := b.Callback("u-" + slug); answer.Status != http.StatusSeeOther {
		t.Fatalf("sign-in of %s: %d %s", slug, answer.Status, answer.Body)
	}
	return b
}

// Event posts one signed event of a tenant, as the platform would; data becomes
// its "data". Equal arguments make equal bytes.
func (s *Site) Event(t testing.TB, eventType, slug string, data any) Answer {
	t.Helper()
	body, err := json.Marshal(struct {
		EventType  string `json:"eventType"`
		TenantSlug string `json:"tenantSlug"`
		Data       any    `json:"data,omitempty"`
	}{eventType, slug, data})
	if err != nil {
		t.Fatal(err)
	}
	return s.Browser(t).Do(http.MethodPost, "/webhooks/platform", strings.NewReader(string(body)), http.Header{
		"Content-Type": {"application/json"}, platform.SignatureHeader: {platform.Sign(WebhookSecret, body)},
	})
}

// TenantQuery reads one value of a tenant's data, past the server.
func TenantQuery[T any](t testing.TB, s *Site, slug, sql string, args ...any) (value T) {
	t.Helper()
	s.inTenant(t, slug, func(tx pgx.Tx) error { return tx.QueryRow(context.Background(), sql, args...).Scan(&value) })
	return value
}

// TenantExec changes a tenant's data, past the server.
func (s *Site) TenantExec(t testing.TB, slug, sql string, args ...any) {
	t.Helper()
	s.inTenant(t, slug, func(tx pgx.Tx) error {
		_, err := tx.Exec(context.Background(), sql, args...)
		return err
	})
}

func (s *Site) inTenant(t testing.TB, slug string, fn func(pgx.Tx) error) {
	t.Helper()
	ctx := context.Background()
	conn := pgtest.Connect(t, s.Database)
	defer conn.Close(ctx)
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		path := pgx.Identifier{"tenant_" + slug}.Sanitize() + ", public"
		if _, err := tx.Exec(ctx, `SELECT set_config('search_path', $1, true)`, path); err != nil {
			return err
		}
		return fn(tx)
	})
	if err != nil {
		t.Fatal(err)
	}
}
