package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// asOrdinaryUser returns the URL for a user who owns the database and may make
// roles, and is no superuser.
func asOrdinaryUser(t testing.TB, url string) string {
	t.Helper()
	user := query[string](t, url, `SELECT 'owner_' || current_database()`)
	exec(t, url, fmt.Sprintf(`CREATE ROLE %[1]s LOGIN CREATEROLE; GRANT ALL ON SCHEMA public TO %[1]s`, user))
	exec(t, url, fmt.Sprintf(`DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' OWNER TO %s'; END $$`, user))
	return strings.Replace(url, "postgres@", user+"@", 1)
}

func TestHandWrittenSQLCannotReachAnotherTenant(t *testing.T) {
	t.Parallel()
	for _, ordinary := range []bool{true, false} {
		url := pgtest.URL(t)
		if ordinary {
			url = asOrdinaryUser(t, url)
		}
		db := open(t, tenancy.Options{URL: url, Tenant: things, TenantRoles: true, MaxConns: 2})
		acme, long := provision(t, db, "acme"), provision(t, db, strings.Repeat("x", 56))
		if err := errors.Join(add(acme, db, "acme"), add(long, db, "long")); err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{
			`SELECT count(*) FROM tenant_` + strings.Repeat("x", 56) + `.things`, `DELETE FROM tenant_` + strings.Repeat("x", 56) + `.things`,
			`SELECT count(*) FROM public.sessions`, `UPDATE public.tenants SET status = 'active'`, `SELECT count(*) FROM public.webhook_events`,
			`CREATE TABLE mine (id int)`, `DROP TABLE things`, `UPDATE tenant_acme.schema_migrations SET version = 0`,
		} {
			err := db.InTx(acme, func(tx pgx.Tx) error { _, err := tx.Exec(acme, sql); return err })
			if pgErr := (*pgconn.PgError)(nil); !errors.As(err, &pgErr) || pgErr.Code != "42501" {
				t.Errorf("ordinary %v: %s: %v, want permission denied", ordinary, sql, err)
			}
		}
		if got, err := owners(acme, db); err != nil || len(got) != 1 || got[0] != "acme" {
			t.Errorf("ordinary %v: its own rows: %v, %v", ordinary, got, err)
		}
		if err := db.MigrateShared(t.Context()); err != nil {
			t.Errorf("the role outlived its transaction: %v", err)
		}
	}
}

func TestATenantFromBeforeGetsItsRoleWhenItIsUsed(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	provision(t, open(t, tenancy.Options{URL: url, Tenant: things}), "acme")
	db := open(t, tenancy.Options{URL: url, Tenant: things, TenantRoles: true, MigrateOnUse: true})
	if err := add(current(t, db, "acme"), db, "acme"); err != nil {
		t.Fatal(err)
	}
	ctx := current(t, db, "acme")
	if tenant, _ := tenancy.TenantFrom(ctx); tenant.Role == "" {
		t.Error("it has no role")
	}
	if got, err := owners(ctx, db); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// current is the context of a request that reads the tenant as it is now.
func current(t testing.TB, db *tenancy.DB, name string) context.Context {
	t.Helper()
	tenant, err := db.Tenant(t.Context(), slug(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return tenancy.WithTenant(t.Context(), tenant)
}

func TestWhereTheUserMayNotMakeRolesTenantsGoWithout(t *testing.T) {
	t.Parallel()
	admin := pgtest.URL(t)
	url := asOrdinaryUser(t, admin)
	exec(t, admin, `DO $$ BEGIN EXECUTE 'ALTER ROLE owner_' || current_database() || ' NOCREATEROLE'; END $$`)
	db := open(t, tenancy.Options{URL: url, Tenant: things, TenantRoles: true, MigrateOnUse: true})
	if err := add(provision(t, db, "acme"), db, "acme"); err != nil {
		t.Error(err)
	}
}

func TestAPurgedTenantsRoleIsGone(t *testing.T) {
	t.Parallel()
	url := asOrdinaryUser(t, pgtest.URL(t))
	db := open(t, tenancy.Options{URL: url, Tenant: things, TenantRoles: true})
	tenant, _ := tenancy.TenantFrom(provision(t, db, "acme"))
	if err := errors.Join(db.Cancel(t.Context(), tenant.Slug), db.Purge(t.Context(), tenant.Slug)); err != nil {
		t.Fatal(err)
	}
	if n := query[int](t, url, `SELECT count(*) FROM pg_roles WHERE rolname = $1`, tenant.Role); n != 0 {
		t.Error("it is there")
	}
}

// What a role costs a request, steady, with 200 tenants.
func BenchmarkTenantRole(b *testing.B) {
	url := asOrdinaryUser(b, pgtest.URL(b))
	with := open(b, tenancy.Options{URL: url, Tenant: things, TenantRoles: true, MaxConns: 1})
	without := open(b, tenancy.Options{URL: url, Tenant: things, MaxConns: 1})
	var tenants []context.Context
	for i := range 200 {
		tenants = append(tenants, provision(b, with, fmt.Sprintf("t%d", i)))
	}
	var plain, role time.Duration
	for i := 0; b.Loop(); i++ {
		ctx := tenants[i%len(tenants)]
		timed(b, &plain, func() error { _, err := owners(ctx, without); return err })
		timed(b, &role, func() error { _, err := owners(ctx, with); return err })
	}
	b.ReportMetric(role.Seconds()/plain.Seconds(), "×without")
	b.ReportMetric(float64((role-plain).Microseconds())/float64(b.N), "µs/request")
}
