package doctor_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/handlers/server/doctor"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

func TestDoctor_TheDatabaseItself(t *testing.T) {
	t.Parallel()
	pg := pgtest.NewServer(t)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: pg.URL("postgres")})
	p := healthy(site)
	p.want(t, "server version", doctor.OK, "PostgreSQL", "")
	p.want(t, "database clock", doctor.OK, "agree", "")

	site.Exec(t, `CREATE ROLE poor LOGIN; GRANT USAGE ON SCHEMA public TO poor; GRANT SELECT ON ALL TABLES IN SCHEMA public TO poor`)
	address, err := url.Parse(site.Database)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.User("poor")
	p.with("DATABASE_URL", address.String()).want(t, "create schemas", doctor.Failure, "may not create schemas", "GRANT CREATE ON DATABASE postgres TO poor")

	through := pgtest.Pooler(t, site.Database)
	p.with("DATABASE_URL", through).want(t, "pooler", doctor.OK, "works", "")
	prepared := strings.Replace(through, "default_query_exec_mode=exec", "default_query_exec_mode=cache_statement", 1)
	p.with("DATABASE_URL", prepared).want(t, "pooler", doctor.Failure, "pooler", "default_query_exec_mode=exec")

	site.Exec(t, `ALTER DATABASE postgres SET default_transaction_read_only = on`)
	p.want(t, "read-only", doctor.Failure, "standby", "DATABASE_URL")
	p.want(t, "schema", doctor.Warning, "cannot be looked at", "see the lines on the database")
	site.Exec(t, `BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT`)

	if err := pg.Halt(t.Context(), "immediate"); err != nil {
		t.Fatal(err)
	}
	p.want(t, "database", doctor.Failure, "cannot be asked", "start PostgreSQL")
	p.want(t, "events", doctor.Warning, "not checked: the database does not answer", "repair that first")
	handlertest.Await(t, "the site is unhealthy", func() bool {
		response, err := http.Get(site.URL + "/healthz")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusServiceUnavailable
	})
	p.want(t, "health address", doctor.Failure, `"unavailable" (503)`, "log")
	if err := pg.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestDoctor_SchemasAndDrift(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	p := healthy(site)
	p.want(t, "schema", doctor.OK, "tenants at version 1: 1", "")
	site.TenantExec(t, "acme", `ALTER TABLE items ADD COLUMN extra int`)
	p.want(t, "schema", doctor.Warning, "differences from a fresh schema: 1", "migrate --drift")

	next := p
	versions := fstest.MapFS{
		"000001_a.up.sql": {Data: []byte(`CREATE TABLE items (id bigint PRIMARY KEY)`)}, "000002_b.up.sql": {Data: []byte(`ALTER TABLE items ADD COLUMN extra int`)},
	}
	next.product = func() server.Product { return fixture.Migrating(versions) }
	next.want(t, "schema", doctor.Warning, "behind: 1", "migrated when they are used")
	next.with("MIGRATE_ON_START", "false").want(t, "schema", doctor.Failure, "behind: 1", "run `migrate`")
	c := server.CLI{Product: next.product(), Stdout: &strings.Builder{}, Env: func(name string) (string, bool) { v, ok := p.env[name]; return v, ok }}
	if err := c.Migrate(t.Context(), nil); err == nil {
		t.Fatal("the migration does not fail")
	}
	next.want(t, "schema", doctor.Failure, "failed to migrate: 1", "migrate --status")
	site.TenantExec(t, "acme", `ALTER TABLE items DROP COLUMN extra`)
	if err := c.Migrate(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	p.want(t, "schema", doctor.Warning, "ahead of this program: 1", "newer program")

	site.Exec(t, `CREATE TABLE public.items ()`)
	p.want(t, "schema", doctor.Failure, "may be in one of them alone: items", "rename")

	fresh := p.with("DATABASE_URL", pgtest.URL(t))
	fresh.want(t, "schema", doctor.Warning, "the shared schema is at version 0", "next start")
	fresh.with("MIGRATE_ON_START", "false").want(t, "schema", doctor.Failure, "the shared schema is at version 0", "run `migrate`")
}

func TestDoctor_Events(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	p := healthy(site)
	p.want(t, "events", doctor.OK, "pending: 0; failed: 0", "")
	site.Event(t, "item.suggested", "nobody", map[string]string{"label": "x"})
	p.want(t, "events", doctor.OK, "pending: 1; failed: 0; the oldest pending came", "")
	site.Exec(t, `UPDATE public.webhook_events SET received_at = now() - interval '1 hour' WHERE status = 'pending'`)
	p.want(t, "events", doctor.Warning, "the oldest pending came 1h0m", "events list --status pending")
	site.Event(t, "item.suggested", "acme", nil)
	p.want(t, "events", doctor.Warning, "failed: 1", "events retry --all-failed")
	p.want(t, "jobs", doctor.OK, "pending: 0; running: 0; failed: 0", "")
	site.Exec(t, `INSERT INTO public.river_job (kind, args, max_attempts, state, scheduled_at)
		VALUES ('of-another-program', '{}', 3, 'available', now() - interval '1 hour')`)
	p.want(t, "jobs", doctor.Warning, "the first that is due has waited 1h0m", "jobs list --status pending")
	site.Exec(t, `UPDATE public.river_job SET state = 'discarded', finalized_at = now()`)
	p.want(t, "jobs", doctor.Warning, "failed: 1", "jobs retry ID")
}
