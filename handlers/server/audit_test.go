package server_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/tenancy"
)

// audited is what a site's audit log says, oldest first.
func audited(t *testing.T, site *handlertest.Site) []string {
	t.Helper()
	return strings.Split(handlertest.Query[string](t, site, `
		SELECT coalesce(string_agg(concat_ws(' ', actor, action, tenant_slug, nullif(detail, '')), E'\n' ORDER BY id), '') FROM public.audit_log`), "\n")
}

// Users, the platform and whoever runs commands: each act stands in the table
// with its actor, and in the log.
func TestAudit_EveryActHasItsActor(t *testing.T) {
	t.Parallel()
	var log handlertest.Log
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Log: &log})
	site.Subscribe(t, "acme")
	site.Subscribe(t, "evil")
	b, other := site.Browser(t), site.Browser(t)
	b.Callback("u-acme")
	other.Callback("u-acme")
	b.Post("/sessions/revoke-others", nil)
	page := b.Callback("u-evil")
	b.Post("/sso/switch", map[string][]string{"nonce": {page.Hidden("nonce")}})
	b.Post("/logout", nil)
	b.Post("/logout", nil) // where nobody is signed in: nothing
	site.Event(t, "tenant.cancelled", "evil", nil)
	site.Event(t, "item.suggested", "acme", nil) // which fails for good: it names no label
	c, _ := commandLine(map[string]string{"DATABASE_URL": site.Database, "FIXTURE_GREETING": "Hello"})
	for _, args := range [][]string{{"cancel", "acme"}, {"restore", "acme"}, {"restore", "acme"}, {"provision", "new"}, {"purge", "evil", "--yes"}} {
		if err := c.Tenants(t.Context(), args); err != nil {
			t.Fatal(args, err)
		}
	}
	if err := c.Events(t.Context(), []string{"retry", "--all-failed"}); err != nil {
		t.Fatal(err)
	}
	got := audited(t, site)
	host, _ := os.Hostname()
	operator, _, _ := strings.Cut(got[len(got)-1], " ")
	if !strings.HasSuffix(operator, "@"+host) || strings.HasPrefix(operator, "@") {
		t.Errorf("the operator is %q", operator)
	}
	want := []string{
		"platform provision acme", "platform provision evil", "u-acme sign-in acme", "u-acme sign-in acme",
		"u-acme end-sessions acme 1 of u-acme", "u-evil switch evil u-acme of acme", "u-evil sign-out evil", "platform cancel evil",
		operator + " cancel acme", operator + " restore acme", operator + " provision new",
		operator + " purge evil begun", operator + " purge evil done", operator + " retry acme failed events: 1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, line := range []string{
		`"actor":"platform","action":"provision","tenant":"acme"`, `"actor":"platform","action":"cancel","tenant":"evil"`,
		`"actor":"u-acme","action":"sign-in"`, `"actor":"u-acme","action":"end-sessions"`, `"actor":"u-evil","action":"switch"`, `"actor":"u-evil","action":"sign-out"`,
	} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("the log has no %s", line)
		}
	}
}

// A sign-in that makes its tenant is the user's doing, as is what a product's
// handler does.
func TestAudit_ATenantThatASignInMakes(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	site.Exec(t, `DELETE FROM public.tenants; DROP SCHEMA tenant_acme CASCADE; DELETE FROM public.audit_log`)
	if answer := site.Browser(t).Callback("u-acme"); answer.Status >= 400 {
		t.Fatal(answer)
	}
	handlertest.Await(t, "it is recorded", func() bool {
		return audited(t, site)[0] == "u-acme provision acme"
	})
}

func TestAudit_Export(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pg_dump"); err != nil && os.Getenv("CI") == "" {
		t.Skip(tenancy.ErrNoPgDump)
	}
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	c, _ := commandLine(map[string]string{"DATABASE_URL": site.Database, "FIXTURE_GREETING": "Hello"})
	if err := c.Tenants(t.Context(), []string{"export", "acme"}); err != nil {
		t.Fatal(err)
	}
	if got := audited(t, site); len(got) != 2 || !strings.HasSuffix(got[1], " export acme") {
		t.Errorf("%q", got)
	}
}
