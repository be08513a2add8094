package tenancy_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A slug may be given again. What still goes on for the tenant that had it before
// reads and writes nothing of the new one's.
func TestInTx_AFormerTenantOfTheSlugReachesNothing(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	for name, way := range map[string]string{"directly": url, "through a pooler": pgtest.Pooler(t, url)} {
		db := open(t, tenancy.Options{URL: way, Tenant: things, MaxConns: 2})
		before := provision(t, db, "acme")
		acme := slug(t, "acme")
		for _, err := range []error{db.Cancel(t.Context(), acme), db.Purge(t.Context(), acme), db.Provision(t.Context(), acme)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		now, err := db.ForTenant(t.Context(), "acme")
		if err != nil {
			t.Fatal(err)
		}
		if err := add(now, db, "new"); err != nil {
			t.Fatal(err)
		}
		for what, call := range map[string]func() error{
			"Exec":           func() error { _, err := db.Exec(before, `INSERT INTO things (owner) VALUES ('old')`); return err },
			"Query":          func() error { _, err := owners(before, db); return err },
			"QueryRow":       func() error { return db.QueryRow(before, `SELECT 1 FROM things`).Scan(new(int)) },
			"several":        func() error { _, err := db.Exec(before, `DELETE FROM things; SELECT 1`); return err },
			"InTx, reading":  func() error { return countIn(before, db) },
			"InTx, writing":  func() error { return add(before, db, "old") },
			"InTx, nothing":  func() error { return db.InTx(before, func(pgx.Tx) error { return nil }) },
			"a link, signed": func() error { _, err := db.SignLink(before, "thing", "1", time.Hour); return err },
		} {
			if err := call(); !errors.Is(err, tenancy.ErrTenantCancelled) {
				t.Errorf("%s, %s: %v, want ErrTenantCancelled", name, what, err)
			}
		}
		if seen, err := owners(now, db); err != nil || len(seen) != 1 || seen[0] != "new" {
			t.Errorf("%s: the new tenant has %v, %v", name, seen, err)
		}
		for _, err := range []error{db.Cancel(t.Context(), acme), db.Purge(t.Context(), acme)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func countIn(ctx context.Context, db *tenancy.DB) error {
	return db.InTx(ctx, func(tx pgx.Tx) error { return tx.QueryRow(ctx, `SELECT count(*) FROM things`).Scan(new(int)) })
}

// A process that is frozen in the middle of a transaction, or whose host is lost,
// holds nobody up for long: its locks go with its deadline.
func TestInTx_AFrozenTransactionLosesItsLocks(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	for name, way := range map[string]string{"directly": url, "through a pooler": pgtest.Pooler(t, url)} {
		db := open(t, tenancy.Options{URL: way, Tenant: things, MaxConns: 2})
		acme := provision(t, db, "acme")
		for what, hold := range map[string]func(context.Context, func(pgx.Tx) error) error{"InTx": db.InTx, "InShared": db.InShared} {
			short, cancel := context.WithTimeout(acme, 200*time.Millisecond)
			defer cancel()
			err := hold(short, func(tx pgx.Tx) error {
				if _, err := tx.Exec(short, `LOCK TABLE tenant_acme.things`); err != nil {
					t.Errorf("%s, %s: %v", name, what, err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if _, err := pgtest.Connect(t, url).Exec(ctx, `BEGIN; LOCK TABLE tenant_acme.things; COMMIT`); err != nil {
					t.Errorf("%s, %s: the locks are still held: %v", name, what, err)
				}
				return nil
			})
			if err == nil {
				t.Errorf("%s, %s: it has committed", name, what)
			}
		}
	}
}
