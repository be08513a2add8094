package schema_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/schema"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// The rules of README.md, held against the files that are here now.

func TestFiles_NameNoTenantsSchema(t *testing.T) {
	t.Parallel()
	for dir, fsys := range map[string]fs.FS{"shared": schema.Shared(), "tenant": schema.Tenant()} {
		names, err := fs.Glob(fsys, "*.sql")
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, name := range names {
			content, err := fs.ReadFile(fsys, name)
			if err != nil {
				t.Fatal(err)
			}
			if regexp.MustCompile(`(?i)\btenant_[a-z0-9_-]*"?\s*\.`).Match(content) || regexp.MustCompile(`(?i)\bsearch_path\b`).Match(content) {
				t.Errorf("%s/%s names a tenant's schema or sets the search_path: leave both to the migration", dir, name)
			}
			if strings.HasSuffix(name, ".up.sql") {
				down := strings.TrimSuffix(name, ".up.sql") + ".down.sql"
				if _, err := fs.Stat(fsys, down); err != nil {
					t.Errorf("%s/%s has no %s", dir, name, down)
				}
			}
		}
	}
}

// shared is a database without tenants, made of the files as they are.
func shared(t *testing.T) *pgx.Conn { return database(t, func(*tenancy.DB) error { return nil }) }

// provisioned is one with a tenant.
func provisioned(t *testing.T) *pgx.Conn {
	return database(t, func(db *tenancy.DB) error {
		slug, err := tenancy.ParseSlug("acme")
		if err != nil {
			return err
		}
		return db.Provision(t.Context(), slug)
	})
}

func database(t *testing.T, fill func(*tenancy.DB) error) *pgx.Conn {
	t.Helper()
	url := pgtest.URL(t)
	db, err := tenancy.Open(t.Context(), tenancy.Options{
		URL: url, Tenant: schema.Tenant(), Shared: schema.Shared(), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := errors.Join(db.MigrateShared(t.Context()), fill(db)); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) })
	return conn
}

func list(t *testing.T, conn *pgx.Conn, sql string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestTenantTables_AreReadyForMoreThanOneMachine(t *testing.T) {
	t.Parallel()
	conn := provisioned(t)
	if tables := list(t, conn, `
		SELECT c.relname FROM pg_class c
		WHERE c.relnamespace = 'tenant_acme'::regnamespace AND c.relkind IN ('r', 'p')
			AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p')`); len(tables) > 0 {
		t.Errorf("tables without a primary key: %v", tables)
	}
	if keys := list(t, conn, `
		SELECT k.conname FROM pg_constraint k
			JOIN pg_class here ON here.oid = k.conrelid JOIN pg_class there ON there.oid = k.confrelid
		WHERE k.contype = 'f' AND here.relnamespace = 'public'::regnamespace AND there.relnamespace = 'tenant_acme'::regnamespace`); len(keys) > 0 {
		t.Errorf("foreign keys from public into a tenant: %v", keys)
	}
	if triggers := list(t, conn, `
		SELECT g.tgname FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
		WHERE c.relnamespace = 'tenant_acme'::regnamespace AND NOT g.tgisinternal`); len(triggers) > 0 {
		t.Errorf("triggers, which Citus refuses as it comes: %v", triggers)
	}
}

// A tenant's files make nothing outside of its schema: a second tenant would
// find it there already, and share it.
func TestTenantFiles_StayInTheTenantsSchema(t *testing.T) {
	t.Parallel()
	conn := provisioned(t)
	if n := list(t, conn, `SELECT n::text FROM (SELECT count(*) AS n FROM pg_namespace
		WHERE nspname NOT LIKE 'pg\_%' AND nspname NOT IN ('information_schema', 'public', 'tenant_acme')) s WHERE n > 0`); len(n) > 0 {
		t.Errorf("%s further schemas", n[0])
	}
	public := `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY relname`
	after := list(t, conn, public)
	if before := list(t, shared(t), public); !slices.Equal(before, after) {
		t.Errorf("public was\n%v\nand is\n%v", before, after)
	}
}

func TestDownFiles_UndoUpFiles(t *testing.T) {
	t.Parallel()
	conn := provisioned(t)
	names, err := fs.Glob(schema.Tenant(), "*.down.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `SET search_path TO tenant_acme, public`); err != nil {
		t.Fatal(err)
	}
	for i := len(names) - 1; i >= 0; i-- {
		content, err := fs.ReadFile(schema.Tenant(), names[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), string(content)); err != nil {
			t.Errorf("%s: %v", names[i], err)
		}
	}
	if left := list(t, conn, `
		SELECT relname FROM pg_class WHERE relnamespace = 'tenant_acme'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND relname <> 'schema_migrations'`); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}
