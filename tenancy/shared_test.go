package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

var rates = files("000001_rates.up.sql", "CREATE TABLE rates (currency text PRIMARY KEY); INSERT INTO rates VALUES ('EUR')")

// prepared opens a database without migrating it.
func prepared(t testing.TB, url string, tenant, shared fs.FS) *tenancy.DB {
	t.Helper()
	db, err := tenancy.Open(context.Background(), tenancy.Options{URL: url, Tenant: tenant, Shared: shared, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// The template and the product number their files each from one.
func TestMigrateShared_KeepsTheTemplatesVersionsApart(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := prepared(t, url, nil, rates)
	var behind *tenancy.BehindError
	if err := db.CheckShared(t.Context()); !errors.As(err, &behind) {
		t.Errorf("an empty database: %v, want a BehindError", err)
	}
	for range 2 {
		if err := db.MigrateShared(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.CheckShared(t.Context()); err != nil {
		t.Error(err)
	}
	own, err := filepath.Glob("schema/*.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	got := pgtest.Query[string](t, url, `SELECT (SELECT version FROM public.template_migrations) || ' ' || (SELECT version FROM public.schema_migrations)`)
	if want := fmt.Sprintf("%d 1", len(own)); got != want {
		t.Errorf("versions %s, want the template's newest and the product's: %s", got, want)
	}
}

func TestMigrateShared_RefusesADatabaseFromBefore(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	pgtest.Exec(t, url, `CREATE TABLE public.tenants (slug text); CREATE TABLE public.schema_migrations (version bigint, dirty bool)`)
	if err := prepared(t, url, nil, nil).MigrateShared(t.Context()); !errors.Is(err, tenancy.ErrOldDatabase) {
		t.Errorf("%v, want ErrOldDatabase", err)
	}
	if n := pgtest.Query[int](t, url, `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`); n != 2 {
		t.Errorf("%d tables, want it left as it was", n)
	}
}

// A table of a tenant that has the name of a shared one would be everybody's to
// a tenant that is not migrated yet.
func TestMigrateShared_RefusesANameInBothPlaces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tenant, shared string }{
		"a table":                   {"CREATE TABLE rates (id int PRIMARY KEY)", "CREATE TABLE rates (id int)"},
		"a view over a table":       {"CREATE VIEW rates AS SELECT 1", "CREATE TABLE rates (id int)"},
		"a type":                    {"CREATE TYPE mood AS ENUM ('x')", "CREATE TYPE mood AS ENUM ('y')"},
		"a function":                {"CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 2'"},
		"a table of the template's": {"CREATE TABLE sessions (id int PRIMARY KEY)", "SELECT 1"},
	} {
		db := prepared(t, pgtest.URL(t), files("000001_t.up.sql", c.tenant), files("000001_s.up.sql", c.shared))
		var both *tenancy.NameError
		if err := db.MigrateShared(t.Context()); !errors.As(err, &both) || len(both.Names) != 1 {
			t.Errorf("%s: %v, want a NameError", name, err)
		}
		if err := db.CheckShared(t.Context()); !errors.As(err, &both) {
			t.Errorf("%s, where nothing is migrated at start: %v", name, err)
		}
	}
}

func TestInShared_ReadsAndWritesProductWideTables(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things, Shared: rates})
	acme := provision(t, db, "acme")
	if err := db.InShared(t.Context(), func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `INSERT INTO rates VALUES ('USD')`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	err := db.InShared(acme, func(tx pgx.Tx) error { _, err := tx.Exec(acme, `SELECT * FROM things`); return err })
	if err == nil {
		t.Error("a tenant's table is there in InShared")
	}
	var n int
	err = db.InTx(acme, func(tx pgx.Tx) error { return tx.QueryRow(acme, `SELECT count(*) FROM rates`).Scan(&n) })
	if err != nil || n != 2 {
		t.Errorf("a tenant's statement reads %d, %v", n, err)
	}
}

func TestEachTenant_VisitsActiveOnesAndStopsForNobody(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things})
	for _, name := range []string{"c", "a", "b", "gone"} {
		provision(t, db, name)
	}
	if err := db.Cancel(t.Context(), slug(t, "gone")); err != nil {
		t.Fatal(err)
	}
	var visited []string
	boom := errors.New("boom")
	err := db.EachTenant(t.Context(), func(ctx context.Context) error {
		tenant, err := tenancy.TenantFrom(ctx)
		visited = append(visited, tenant.Slug.String())
		if tenant.Slug.String() == "a" {
			return boom
		}
		return errors.Join(err, add(ctx, db, tenant.Slug.String()))
	})
	if !slices.Equal(visited, []string{"a", "b", "c"}) || !errors.Is(err, boom) || err.Error() != "tenant a: boom" {
		t.Errorf("visited %v, %v", visited, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err = db.EachTenant(ctx, func(context.Context) error { calls++; cancel(); return nil })
	if calls != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %d calls, %v", calls, err)
	}
}

// OnProvision runs once for a tenant, in the transaction that makes it, however
// it is made.
func TestProvision_RunsOnProvision(t *testing.T) {
	t.Parallel()
	var fail error
	db := open(t, tenancy.Options{Tenant: things, OnProvision: func(ctx context.Context, tx pgx.Tx, slug tenancy.Slug) error {
		_, err := tx.Exec(ctx, `INSERT INTO things (owner) VALUES ($1)`, "seed of "+slug.String())
		return errors.Join(err, fail)
	}})
	fail = errors.New("boom")
	if err := db.Provision(t.Context(), slug(t, "acme")); !errors.Is(err, fail) {
		t.Errorf("%v, want its error", err)
	}
	if _, err := db.Tenant(t.Context(), slug(t, "acme")); !errors.Is(err, tenancy.ErrUnknownTenant) {
		t.Errorf("a tenant whose seed failed: %v", err)
	}
	fail = nil
	acme := provision(t, db, "acme")
	if err := errors.Join(db.Cancel(acme, slug(t, "acme")), db.Provision(acme, slug(t, "acme")), db.EnsureReady(acme, slug(t, "globex"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"acme", "globex"} {
		if seen, err := owners(provision(t, db, name), db); err != nil || fmt.Sprint(seen) != "[seed of "+name+"]" {
			t.Errorf("%s has %v, %v", name, seen, err)
		}
	}
}
