package tenancy_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A request that was under way when its tenant was cancelled writes nothing
// any more, whatever its context says, unless its transaction was open.
func TestInTx_ATenantCancelledMeanwhile(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	for name, way := range map[string]string{"directly": url, "through a pooler": pgtest.Pooler(t, url)} {
		t.Run(name, func(t *testing.T) {
			db := open(t, tenancy.Options{URL: way, Tenant: things, MaxConns: 4})
			acme := provision(t, db, "acme") // its context goes on saying active
			err := db.InTx(acme, func(tx pgx.Tx) error {
				if _, err := tx.Exec(acme, `SELECT`); err != nil {
					return err
				}
				if err := db.Cancel(t.Context(), slug(t, "acme")); err != nil {
					return err
				}
				_, err := tx.Exec(acme, `INSERT INTO things (owner) VALUES ('opened before')`)
				return err
			})
			if err != nil {
				t.Errorf("opened before: %v", err)
			}
			err = db.InTx(acme, effectless(t, "cancelled"))
			if !errors.Is(err, tenancy.ErrTenantCancelled) {
				t.Errorf("opened afterwards: %v, want ErrTenantCancelled", err)
			}
			if path := tenancy.SearchPath(t.Context(), db); path != "pg_catalog" {
				t.Errorf("the connection is left at %q", path)
			}
			if err := db.Restore(t.Context(), slug(t, "acme")); err != nil {
				t.Fatal(err)
			}
			if seen, err := owners(acme, db); err != nil || len(seen) == 0 {
				t.Errorf("restored: %v, %v", seen, err)
			}
			if err := db.Cancel(t.Context(), slug(t, "acme")); err != nil {
				t.Fatal(err)
			}
			if err := db.Purge(t.Context(), slug(t, "acme")); err != nil {
				t.Fatal(err)
			}
			if err := db.InTx(acme, func(pgx.Tx) error { return nil }); !errors.Is(err, tenancy.ErrSchemaMissing) {
				t.Errorf("purged: %v, want ErrSchemaMissing", err)
			}
		})
	}
}

// The same of single statements, reads too.
func TestQuery_ATenantCancelledMeanwhile(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, url string) {
		db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 4})
		acme := provision(t, db, "acme")
		underWay := request(t, db, "acme")
		if err := db.Cancel(t.Context(), slug(t, "acme")); err != nil {
			t.Fatal(err)
		}
		for name, ctx := range map[string]context.Context{"a job": acme, "a request": underWay} {
			want := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, tenancy.ErrTenantCancelled) {
					t.Errorf("%s, %s: %v, want ErrTenantCancelled", name, what, err)
				}
			}
			for range 4 { // unknown to the connection, then known, then with a plan of its own
				for _, sql := range []string{`SELECT count(*) FROM things`, `SELECT 1`, `SELECT count(*) FROM public.tenants`} {
					want(sql, db.QueryRow(ctx, sql).Scan(new(int)))
					want(sql+" in a transaction", db.InTx(ctx, func(tx pgx.Tx) error {
						want(sql+" in a transaction", tx.QueryRow(ctx, sql).Scan(new(int)))
						_, err := tx.Exec(ctx, `UPDATE public.tenants SET plan_type = 'mine'`)
						want("a write after it", err)
						return nil
					}))
				}
				_, err := db.Exec(ctx, `UPDATE public.tenants SET plan_type = 'mine'`)
				want("a write", err)
				want("a transaction", db.InTx(ctx, effectless(t, name)))
			}
		}
		if n := pgtest.Query[int](t, url, `SELECT count(*) FROM public.tenants WHERE plan_type = 'mine'`); n != 0 {
			t.Error("a write had an effect")
		}
	})
}

// A request that reads while its tenant is cancelled and purged finds its tables
// or is told: nothing falls through to public.
func TestQuery_APurgeMeanwhile(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 4})
	provision(t, db, "acme")
	pgtest.Exec(t, url, `CREATE TABLE public.things AS SELECT 'public' AS owner;
		DO $$ BEGIN FOR i IN 1..200 LOOP EXECUTE format('CREATE TABLE tenant_acme.more%s ()', i); END LOOP; END $$`)
	underWay, purged := request(t, db, "acme"), make(chan error, 1)
	go func() {
		err := db.Cancel(t.Context(), slug(t, "acme"))
		if err == nil {
			err = db.Purge(t.Context(), slug(t, "acme"))
		}
		purged <- err
	}()
	for {
		var n int
		err := db.QueryRow(underWay, `SELECT count(*) FROM things`).Scan(&n)
		if n > 0 || err != nil && !errors.Is(err, tenancy.ErrTenantCancelled) && !errors.Is(err, tenancy.ErrSchemaMissing) {
			t.Fatalf("read %d rows of public, %v", n, err)
		}
		select {
		case err := <-purged:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}

// request is the context of a request whose session was read just now.
func request(t *testing.T, db *tenancy.DB, name string) context.Context {
	t.Helper()
	token := rand.Text()
	signIn(t, db, name, token, time.Hour)
	_, tenant, found, err := db.FindSession(t.Context(), token)
	if err != nil || !found {
		t.Fatalf("session of %s: %v, %v", name, found, err)
	}
	return tenancy.WithTenant(t.Context(), tenant)
}

// Tenants that are cancelled or purged while EachTenant is on its way are left
// out, also where their slug is given again, and no error: what it runs for all
// would be run again. The same error for a tenant that is active is one.
func TestEachTenant_ATenantCancelledMeanwhile(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things})
	for _, name := range []string{"a", "again", "b", "c", "d", "e"} {
		provision(t, db, name)
	}
	var ran []string
	err := db.EachTenant(t.Context(), func(ctx context.Context) error {
		tenant, _ := tenancy.TenantFrom(ctx)
		return db.InTx(ctx, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT`); err != nil {
				return err
			}
			ran = append(ran, tenant.Slug.String())
			switch tenant.Slug.String() {
			case "a":
				purge(t, db, "again")
				provision(t, db, "again")
				purge(t, db, "c")
				return db.Cancel(t.Context(), slug(t, "b"))
			case "d":
				return fmt.Errorf("its customer: %w", tenancy.ErrTenantCancelled)
			}
			return nil
		})
	})
	if strings.Join(ran, "") != "ade" || err == nil || err.Error() != "tenant d: its customer: "+tenancy.ErrTenantCancelled.Error() {
		t.Errorf("ran for %v: %v; want all but again, b and c, and the error of d alone", ran, err)
	}
}
