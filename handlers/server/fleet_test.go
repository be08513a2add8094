package server_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A server that starts against 2,000 tenants which are behind answers at once,
// and serves any one of them at once and correctly; the rest follows by itself.
func TestFleet_ThatIsBehindIsServed(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: pgtest.URL(t), Env: map[string]string{"MIGRATE_ON_START": "true"}})
	for at := 0; at < 2000; at += 200 {
		site.Exec(t, fmt.Sprintf(`
			INSERT INTO public.tenants (slug, schema_version) SELECT 't' || i, 0 FROM generate_series(%[1]d, %[2]d) i;
			DO $$ BEGIN FOR i IN %[1]d..%[2]d LOOP EXECUTE 'CREATE SCHEMA tenant_t' || i; END LOOP; END $$`, at, at+199))
	}
	began := time.Now()
	replica := site.Replica(t, fixture.Product(), handlertest.Setup{}) // returns when /healthz says ok
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("healthy after %v, want within 2 s", took)
	}
	site.Platform.AddTenant("t1999", "last", "Pro", simulator.User{ID: "u-t1999", Email: "last@example.org"})
	b := replica.Browser(t)
	if answer := b.Callback("u-t1999"); answer.Status != http.StatusSeeOther {
		t.Fatalf("sign-in: %d %s", answer.Status, answer.Body)
	}
	if answer := b.API(http.MethodPost, "/api/items", `{"label":"x"}`); answer.Status != http.StatusCreated {
		t.Errorf("note: %d %s", answer.Status, answer.Body)
	}
	behind := 2000
	for behind > 0 { // as long as there is progress: how fast is not this test's business
		before := behind
		handlertest.Await(t, "more of the rest is migrated", func() bool {
			behind = handlertest.Query[int](t, site, `SELECT count(*) FROM public.tenants WHERE schema_version = 0`)
			return behind < before
		})
	}
}

// The fewest connections suffice: a tenant's migration takes those of nobody, and
// nobody waits for it.
func TestFleet_IsMigratedOverTheFewestConnections(t *testing.T) {
	t.Parallel()
	before := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	acme, globex := before.SignIn(t, "acme"), before.SignIn(t, "globex")
	before.Exec(t, `CREATE TABLE public.gate (n int); UPDATE public.tenants SET schema_version = 2 WHERE slug = 'globex'`)
	open := pgtest.Lock(t, before.Database, "public.gate")
	next := migratingTo(t, `SET LOCAL lock_timeout = 0; DO $$ BEGIN IF current_schema() = 'tenant_acme' THEN LOCK TABLE gate; END IF; END $$`)
	site := before.Replica(t, next, handlertest.Setup{Env: map[string]string{"DATABASE_MAX_CONNS": "6"}})
	handlertest.Await(t, "a migration is under way", func() bool { return pgtest.Waiting(t, before.Database) == 1 })
	if answer := globex.At(site).API(http.MethodGet, "/api/items", ""); answer.Status != http.StatusOK {
		t.Errorf("of another tenant: %d", answer.Status)
	}
	if answer := site.Browser(t).Callback("u-globex"); answer.Status != http.StatusSeeOther {
		t.Errorf("signing in to another tenant: %d", answer.Status)
	}
	open()
	handlertest.Await(t, "the migration is done", func() bool {
		return acme.At(site).API(http.MethodGet, "/api/items", "").Status == http.StatusOK
	})
}

// migratingTo is the fixture with one more migration of each tenant.
func migratingTo(t *testing.T, sql string) server.Product {
	t.Helper()
	files := fstest.MapFS{"000002_next.up.sql": {Data: []byte(sql)}}
	for _, name := range []string{"000001_items.up.sql", "000001_items.down.sql"} {
		content, err := fs.ReadFile(fixture.Product().TenantSchema, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: content}
	}
	return fixture.Migrating(files)
}

// A tenant whose migration fails is told to wait, and the others do not notice.
// After the repair it needs no hand.
func TestFleet_ATenantThatCannotBeMigrated(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	before := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: url})
	acme, globex := before.SignIn(t, "acme"), before.SignIn(t, "globex")
	before.Exec(t, `ALTER TABLE tenant_acme.items ADD COLUMN next int`)
	site := before.Replica(t, migratingTo(t, `ALTER TABLE items ADD COLUMN next text`), handlertest.Setup{})
	answer := acme.At(site).API(http.MethodGet, "/api/items", "")
	if answer.Status != http.StatusServiceUnavailable || strings.Contains(answer.Body, "already exists") {
		t.Errorf("the broken one: %d %s; want 503 without the reason", answer.Status, answer.Body)
	}
	if answer := globex.At(site).API(http.MethodGet, "/api/items", ""); answer.Status != http.StatusOK {
		t.Errorf("the other: %d", answer.Status)
	}
	site.Exec(t, `ALTER TABLE tenant_acme.items DROP COLUMN next`)
	handlertest.Await(t, "the repaired one is served", func() bool {
		return acme.At(site).API(http.MethodGet, "/api/items", "").Status == http.StatusOK
	})
}
