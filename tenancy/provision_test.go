package tenancy_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

func TestProvision_MakesTheSchemaAndItsRowsTogether(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: files(
		"000001_a.up.sql", "CREATE TABLE a (id bigint PRIMARY KEY)",
		"000002_b.up.sql", "CREATE TABLE b (id bigint PRIMARY KEY); INSERT INTO b VALUES (7)")})
	provision(t, db, "acme-1_x")

	if got := pgtest.Query[int](t, url, `SELECT id FROM "tenant_acme-1_x".b`); got != 7 {
		t.Errorf("b holds %d, want 7", got)
	}
	if got := pgtest.Query[string](t, url, `SELECT version || ' ' || dirty FROM "tenant_acme-1_x".schema_migrations`); got != "2 false" {
		t.Errorf("version row is %q, want golang-migrate's own: 2 false", got)
	}
	tenant, err := db.Tenant(t.Context(), slug(t, "acme-1_x"))
	if err != nil || tenant.Status != tenancy.Active || tenant.SchemaVersion != 2 {
		t.Errorf("registry has %+v, %v; want active at version 2", tenant, err)
	}
}

func TestProvision_AFailureLeavesNothing(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: files(
		"000001_a.up.sql", "CREATE TABLE a (id bigint PRIMARY KEY)",
		"000002_b.up.sql", "CREATE TABLE b (id bigint PRIMARY KEY);\nCREATE TABLE b (id text)")})
	err := db.Provision(t.Context(), slug(t, "acme"))

	if failed := (*tenancy.MigrationError)(nil); !errors.As(err, &failed) || failed.File != "000002_b.up.sql" {
		t.Errorf("error is %v; want a MigrationError that names the file", err)
	}
	if n := pgtest.Query[int](t, url, `SELECT count(*) FROM pg_namespace WHERE nspname = 'tenant_acme'`); n != 0 {
		t.Error("the schema was left behind")
	}
	if n := pgtest.Query[int](t, url, `SELECT count(*) FROM public.tenants`); n != 0 {
		t.Error("the registry row was left behind")
	}
}

// A file may make a temporary table, on a connection that has one of that name:
// the tenant before made it or, behind a pooler, anybody.
func TestProvision_TemporaryTablesOfOthersAreGone(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, MaxConns: 1, Tenant: files("000001_a.up.sql", `
		CREATE TEMP TABLE scratch AS SELECT current_schema()::text AS schema;
		CREATE TABLE a AS SELECT * FROM scratch`),
		Configure: func(c *pgxpool.Config) {
			c.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (bool, error) {
				_, err := conn.Exec(ctx, `CREATE TEMP TABLE IF NOT EXISTS scratch (schema text)`)
				return true, err
			}
		}})
	for _, name := range []string{"acme", "globex"} {
		provision(t, db, name)
		if got := pgtest.Query[string](t, url, `SELECT schema FROM tenant_`+name+`.a`); got != "tenant_"+name {
			t.Errorf("%s has what was kept for %s", name, got)
		}
	}
}

func TestMigrations_AnErrorNamesFileLineAndCause(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: files("000001_a.up.sql", "CREATE TABLE a (id bigint);\n\nSELECT nonsense FROM a;\n")})
	err := db.Provision(t.Context(), slug(t, "acme"))
	for _, want := range []string{"acme", "000001_a.up.sql:3", "nonsense"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %q lacks %q", err, want)
		}
	}
}

func TestProvision_TenAtOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, MaxConns: 10, Tenant: files(
		"000001_a.up.sql", "CREATE TABLE a (id bigint); INSERT INTO a VALUES (1)")})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if err := db.Provision(t.Context(), slug(t, "acme")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := pgtest.Query[int](t, url, `SELECT count(*) FROM tenant_acme.a`); n != 1 {
		t.Errorf("the migration ran %d times, want once", n)
	}
}

func TestProvision_ASchemaNewerThanTheProgramIsServedAndLeftAlone(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	first, second := "000001_a.up.sql", "000002_b.up.sql"
	newer := open(t, tenancy.Options{URL: url, Tenant: files(first, "CREATE TABLE a (id bigint)", second, "CREATE TABLE b (id bigint)")})
	provision(t, newer, "acme")
	older := open(t, tenancy.Options{URL: url, Tenant: files(first, "CREATE TABLE a (id bigint)")})
	provision(t, older, "acme")
	if v := pgtest.Query[int](t, url, `SELECT version FROM tenant_acme.schema_migrations`); v != 2 {
		t.Errorf("version is %d, want 2 as before", v)
	}
}

func TestProvision_WithoutTenantTables(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: files("README", "nothing yet")})
	provision(t, db, "acme")
	if n := pgtest.Query[int](t, url, `SELECT count(*) FROM pg_namespace WHERE nspname = 'tenant_acme'`); n != 1 {
		t.Error("the schema is missing")
	}
}

func TestMigrations_BadFileNamesAreRefusedAtStart(t *testing.T) {
	t.Parallel()
	_, err := tenancy.Open(t.Context(), tenancy.Options{URL: "postgres://x", Tenant: files("1-notes.sql", "SELECT 1")})
	if err == nil || !strings.Contains(err.Error(), "1-notes.sql") {
		t.Errorf("error is %v; want one that names the file", err)
	}
}
