package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// statements counts what is sent to the database.
type statements struct{ n atomic.Int64 }

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	s.n.Add(1)
	return ctx
}
func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// Without a tenant that may be served, not one statement is sent; where only
// the database can know that the schema is missing, none but BEGIN, and the
// connection is as good as before.
func TestInTx_NoStatementWithoutATenant(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	sent := &statements{}
	db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 1, Configure: func(c *pgxpool.Config) { c.ConnConfig.Tracer = sent }})
	acme := provision(t, db, "acme")
	active, _ := tenancy.TenantFrom(acme)
	cancelled, unheardOf := active, active
	cancelled.Status, unheardOf.Slug = tenancy.Cancelled, slug(t, "unheard-of")
	for name, c := range map[string]struct {
		ctx  context.Context
		want error
		most int64
	}{
		"no tenant":         {t.Context(), tenancy.ErrNoTenant, 0},
		"the zero tenant":   {tenancy.WithTenant(t.Context(), tenancy.Tenant{}), tenancy.ErrNoTenant, 0},
		"no status":         {tenancy.WithTenant(t.Context(), tenancy.Tenant{Slug: active.Slug}), tenancy.ErrTenantCancelled, 0},
		"an unknown status": {tenancy.WithTenant(t.Context(), tenancy.Tenant{Slug: active.Slug, Status: "paused"}), tenancy.ErrTenantCancelled, 0},
		"cancelled":         {tenancy.WithTenant(t.Context(), cancelled), tenancy.ErrTenantCancelled, 0},
		"unknown":           {tenancy.WithTenant(t.Context(), unheardOf), tenancy.ErrSchemaMissing, 5},
	} {
		before := sent.n.Load()
		err := db.InTx(c.ctx, effectless(t, name))
		if n := sent.n.Load() - before; !errors.Is(err, c.want) || n > c.most {
			t.Errorf("%s: %v after %d statements, want %v after at most %d", name, err, n, c.want, c.most)
		}
		if path := tenancy.SearchPath(t.Context(), db); path != "pg_catalog" {
			t.Errorf("%s: the connection is left at %q", name, path)
		}
	}
	if err := add(acme, db, "acme"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A connection is given back as it was, whatever a handler did to it, and the
// next tenant sees nothing of it.
func TestInTx_AConnectionForgetsItsTenant(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things, MaxConns: 1})
	acme, globex := provision(t, db, "acme"), provision(t, db, "globex")
	if err := add(acme, db, "acme"); err != nil {
		t.Fatal(err)
	}
	for i, careless := range []string{
		`SET LOCAL search_path TO tenant_acme`, `SELECT set_config('search_path', 'tenant_acme', true)`,
		`CREATE TEMP TABLE left_behind ON COMMIT DROP AS SELECT * FROM things`, `SAVEPOINT a; ROLLBACK TO a`, `DECLARE c CURSOR FOR SELECT * FROM things`,
	} {
		err := db.InTx(acme, func(tx pgx.Tx) error { _, err := tx.Exec(acme, careless); return err })
		seen, readErr := owners(globex, db)
		if err != nil || readErr != nil || len(seen) != 0 {
			t.Errorf("%d: %v; then another tenant sees %v, %v", i, err, seen, readErr)
		}
		if path := tenancy.SearchPath(t.Context(), db); path != "pg_catalog" {
			t.Errorf("%d: the connection is left at %q", i, path)
		}
	}
}

// What a handler leaves on its connection for the session's whole life, which
// Release does not undo, shows no other tenant its rows: neither a search_path
// nor a temporary table, which PostgreSQL would look at before all others.
func TestInTx_WhatAHandlerLeavesBehindShowsNobodyItsRows(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	for name, way := range map[string]string{"directly": url, "through a pooler": ""} {
		t.Run(name, func(t *testing.T) {
			if way == "" {
				way = pgtest.Pooler(t, url)
			}
			db := open(t, tenancy.Options{URL: way, Tenant: things, MaxConns: 1})
			acme, globex := provision(t, db, "acme"), provision(t, db, "globex")
			if err := add(acme, db, "acme"); err != nil {
				t.Fatal(err)
			}
			for _, left := range []string{`SET search_path TO tenant_acme`, `CREATE TEMP TABLE things AS SELECT * FROM things`, `CREATE TEMP TABLE scratch AS SELECT * FROM things`} {
				if err := db.InTx(acme, func(tx pgx.Tx) error { _, err := tx.Exec(acme, left); return err }); err != nil {
					t.Fatal(err)
				}
				if seen, err := owners(globex, db); err != nil || len(seen) != 0 {
					t.Errorf("after %s another tenant sees %v, %v", left, seen, err)
				}
			}
			err := db.InTx(globex, func(tx pgx.Tx) error { _, err := tx.Exec(globex, `SELECT * FROM scratch`); return err })
			if err == nil {
				t.Error("a temporary table is there for the next tenant")
			}
		})
	}
}

// Names that differ in one character, in what others fold or in what others
// cut off are different tenants.
func TestInTx_TenantsWhoseNamesAreAlike(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things, MaxConns: 2})
	long := "x23456789012345678901234567890123456789012345678901234"
	names := []string{"a-b", "a_b", "ab", "a--b", "public", "pg-catalog", "tenant_a", "a", long + "5", long + "6", "0", "00", "null", "true", "information_schema"}
	for _, name := range names {
		if err := add(provision(t, db, name), db, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		ctx := provision(t, db, name)
		if seen, err := owners(ctx, db); err != nil || fmt.Sprint(seen) != "["+name+"]" {
			t.Errorf("%s sees %v, %v", name, seen, err)
		}
	}
}
