package server_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A product that has a name and nothing else migrates, serves, and signs
// people in; every page of the template's own can be shown.
func TestProduct_OfNothingIsServed(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, server.Product{Name: "Nothing", Slug: "nothing"}, handlertest.Setup{})
	b := site.SignIn(t, "acme")
	if b.User() != "u-acme" {
		t.Error("nobody is signed in")
	}
	for path, want := range map[string]int{"/sessions": http.StatusOK, "/": http.StatusNotFound} {
		page := b.Get(path)
		if page.Status != want || !strings.Contains(page.Body, "Nothing</title>") {
			t.Errorf("%s: %d %s", path, page.Status, page.Body)
		}
	}
}

// OnProvision is part of provisioning, whoever causes that: an event, a sign-in
// or a command.
func TestProduct_OnProvisionRunsWhereverATenantIsMade(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "event")
	site.Event(t, "subscription.created", "event", "again") // it is there already
	site.Platform.AddTenant("signin", "x", "Pro", userOf("signin"))
	if answer := site.Browser(t).Callback("u-signin"); answer.Status != http.StatusSeeOther {
		t.Fatalf("sign-in: %d", answer.Status)
	}
	c, _ := commandLine(map[string]string{"DATABASE_URL": site.Database, "FIXTURE_GREETING": "Hello"})
	if err := c.Tenants(t.Context(), []string{"provision", "command"}); err != nil {
		t.Fatal(err)
	}
	for _, slug := range []string{"event", "signin", "command"} {
		if origin := handlertest.TenantQuery[string](t, site, slug, `SELECT slug FROM origins`); origin != slug {
			t.Errorf("%s has %q", slug, origin)
		}
	}
}

// What OnProvision fails at leaves no tenant behind.
func TestProduct_AnErrorOfOnProvisionUndoesTheTenant(t *testing.T) {
	t.Parallel()
	p := fixture.Product()
	p.OnProvision = func(context.Context, pgx.Tx, tenancy.Slug) error { return errors.New("not today") }
	site := handlertest.Start(t, p, handlertest.Setup{})
	if answer := site.Event(t, "subscription.created", "acme", nil); answer.Status != http.StatusInternalServerError {
		t.Errorf("%d %s, want 500", answer.Status, answer.Body)
	}
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM pg_namespace WHERE nspname = 'tenant_acme'`); n != 0 {
		t.Error("the schema is there")
	}
}

// An event of the product's has its effect once, and what it says of the
// template's own events runs in their transaction.
func TestProduct_EventsOfItsOwnAndOfTheTemplate(t *testing.T) {
	t.Parallel()
	p := fixture.Product()
	p.Events["subscription.created"] = inbox.Handler{Apply: func(ctx context.Context, tx pgx.Tx, _ inbox.Event) error {
		_, err := tx.Exec(ctx, `INSERT INTO items (label, created_by) VALUES ('welcome', 'us')`)
		return err
	}}
	site := handlertest.Start(t, p, handlertest.Setup{})
	b := site.SignIn(t, "acme", handlertest.Plan("Basic"))
	for range 2 { // the second is a redelivery
		if answer := site.Event(t, "item.suggested", "acme", map[string]string{"label": "suggested", "tag": "new"}); answer.Status != http.StatusOK {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	}
	labels := handlertest.TenantQuery[string](t, site, "acme", `SELECT string_agg(label, ',' ORDER BY id) FROM items`)
	if tags := handlertest.TenantQuery[int](t, site, "acme", `SELECT count(*) FROM tags`); labels != "welcome,suggested" || tags != 1 {
		t.Errorf("items %s, %d tags", labels, tags)
	}
	if page := b.Get("/"); !strings.Contains(page.Body, "Welcome back") || !strings.Contains(page.Body, "Basic") {
		t.Errorf("no setting and no plan on %s", page.Body)
	}
}

// A product has tables that all its tenants share, with rows of its own.
func TestProduct_SharedTables(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	for _, slug := range []string{"acme", "globex"} {
		if answer := site.SignIn(t, slug).Get("/api/colours"); answer.Body != `["green","red"]`+"\n" {
			t.Errorf("%s: %d %s", slug, answer.Status, answer.Body)
		}
	}
}

func userOf(slug string) simulator.User {
	return simulator.User{ID: "u-" + slug, Email: slug + "@x.example"}
}

// A route of the product's that is the template's own is refused at start,
// by name: neither replaces the other.
func TestProduct_MayNotReplaceARouteOfTheTemplate(t *testing.T) {
	t.Parallel()
	p := fixture.Product()
	p.Routes = func(r server.Routes) {
		r.Public.GET("/login", echo.NotFoundHandler)
		r.User.GET("/api/me", echo.NotFoundHandler)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	err = server.Serve(t.Context(), p, site.Config, l, slog.New(slog.DiscardHandler), server.Options{})
	if err == nil || !strings.Contains(err.Error(), "GET /login") || !strings.Contains(err.Error(), "GET /api/me") {
		t.Errorf("%v; want both routes named", err)
	}
}

// A database that this program refuses ends the start with what to do; it is
// not waited for.
func TestServe_EndsOnADatabaseThatItRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql, migrate, want string
	}{
		"of an earlier template":        {`CREATE TABLE public.tenants (slug text)`, "true", "dev --reset"},
		"that an operator must migrate": {`SELECT 1`, "false", "run `migrate` first"},
		"with a tenant's name":          {`CREATE TABLE public.items (id bigint)`, "true", "schema/tenant and in public"},
	} {
		database := pgtest.URL(t)
		site := handlertest.Site{Database: database}
		site.Exec(t, c.sql)
		env := map[string]string{
			"DATABASE_URL": database, "APP_SLUG": "app", "PUBLIC_URL": "http://127.0.0.1", "PLATFORM_URL": "http://127.0.0.1:1",
			"PLATFORM_BASE_URL": "http://127.0.0.1:1", "PLATFORM_API_KEY": "key-of-the-test", "WEBHOOK_SECRET": "secret-of-the-test",
			"MIGRATE_ON_START": c.migrate,
		}
		p := fixture.Product()
		lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
		settings, err := config.LoadDev(lookup, lookup, p.Settings)
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err = server.Serve(ctx, p, settings, l, slog.New(slog.DiscardHandler), server.Options{})
		cancel()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}
