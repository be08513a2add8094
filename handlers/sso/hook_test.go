package sso_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/handlers/session"
	"example.com/subproduct/handlers/web"
)

var errNotInvited = errors.New("not invited")

// guarded is the product with a hook that writes who came into the tenant's
// items, and then refuses some.
func guarded() server.Product {
	p := fixture.Product()
	p.Errors = append(p.Errors, web.ErrorAnswer{Err: errNotInvited, Status: http.StatusForbidden, Sentence: "You are not invited."})
	p.OnSignIn = func(ctx context.Context, tx pgx.Tx, user session.User) error {
		_, err := tx.Exec(ctx, `INSERT INTO items (label, created_by) VALUES ($1, $2)`, user.Email, user.ID)
		switch user.ID {
		case "u-refused":
			err = errNotInvited
		case "u-broken":
			_, err = tx.Exec(ctx, `SELECT nonsense`)
		case "u-panic":
			panic("boom")
		}
		return err
	}
	return p
}

// came is who is in the items of acme.
func came(t *testing.T, site *handlertest.Site) string {
	t.Helper()
	return handlertest.TenantQuery[string](t, site, "acme", `SELECT coalesce(string_agg(created_by || ' ' || label, ',' ORDER BY id), '') FROM items`)
}

func TestOnSignIn_RunsOnTheTenantsDataBeforeTheSession(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, guarded(), handlertest.Setup{})
	site.Platform.AddTenant("acme", "Acme", "Pro", simulator.User{ID: "u-acme", Email: "ada@acme.example"})
	b := site.Browser(t)
	for range 2 { // the first makes the tenant
		if answer := b.Callback("u-acme"); answer.Status != http.StatusSeeOther || b.User() != "u-acme" {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
	}
	if got := came(t, site); got != "u-acme ada@acme.example,u-acme ada@acme.example" {
		t.Errorf("it wrote %q", got)
	}
}

// An error is a page as a handler's would be; what the hook wrote is rolled
// back, nobody is signed in, and who was signed in before stays.
func TestOnSignIn_AnErrorSignsNobodyIn(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, guarded(), handlertest.Setup{})
	site.Platform.AddTenant("acme", "Acme", "Pro", simulator.User{ID: "u-acme", Email: "a@acme.example"}, simulator.User{ID: "u-refused", Email: "r@acme.example"},
		simulator.User{ID: "u-broken", Email: "b@acme.example"}, simulator.User{ID: "u-panic", Email: "p@acme.example"})
	before := site.SignIn(t, "acme")
	noted := `SELECT last_sign_in_at::text FROM public.tenants`
	last := handlertest.Query[string](t, site, noted)
	for user, want := range map[string]struct {
		status int
		text   string
	}{"u-refused": {http.StatusForbidden, "You are not invited."}, "u-broken": {http.StatusInternalServerError, "<h1>"}, "u-panic": {http.StatusInternalServerError, "<h1>"}} {
		b := site.Browser(t)
		answer := b.Callback(user)
		if answer.Status != want.status || !strings.Contains(answer.Body, want.text) || answer.Cookie("session") != nil || b.User() != "" {
			t.Errorf("%s: %d %s, cookie %v", user, answer.Status, answer.Body, answer.Cookie("session"))
		}
		before.Get("/login") // so that it need not be asked
		if answer := before.Callback(user); answer.Status != want.status || before.User() != "u-acme" {
			t.Errorf("%s over a session: %d as %s", user, answer.Status, before.User())
		}
	}
	if got := came(t, site); got != "u-acme a@acme.example" {
		t.Errorf("the items have %q", got)
	}
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM public.sessions`); n != 1 || handlertest.Query[string](t, site, noted) != last {
		t.Errorf("%d sessions, or a sign-in that was none is noted", n)
	}
}
