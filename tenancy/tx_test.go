package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

var things = files("000001_things.up.sql", "CREATE TABLE things (owner text NOT NULL)")

func add(ctx context.Context, db *tenancy.DB, owner string) error {
	return db.InTx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO things (owner) VALUES ($1)`, owner)
		return err
	})
}

func owners(ctx context.Context, db *tenancy.DB) (found []string, err error) {
	err = db.InTx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT owner FROM things WHERE owner <> $1`, "")
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return found, err
}

func TestInTx_EachTenantSeesItsOwnRows(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things, MaxConns: 1})
	acme, globex := provision(t, db, "acme"), provision(t, db, "globex")
	if err := errors.Join(add(acme, db, "acme"), add(globex, db, "globex")); err != nil {
		t.Fatal(err)
	}
	for want, ctx := range map[string]context.Context{"acme": acme, "globex": globex} {
		got, err := owners(ctx, db)
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s sees %v, %v", want, got, err)
		}
	}
}

func TestInTx_FailsClosed(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things})
	ctx := provision(t, db, "acme")
	cancelled, _ := tenancy.TenantFrom(ctx)
	cancelled.Status = tenancy.Cancelled
	gone := provision(t, db, "gone")
	// A table of the same name in public is what a lost schema would fall through
	// to.
	pgtest.Exec(t, url, `DROP SCHEMA tenant_gone CASCADE; CREATE TABLE public.things (owner text)`)

	for name, c := range map[string]struct {
		ctx  context.Context
		want error
	}{
		"no tenant":        {t.Context(), tenancy.ErrNoTenant},
		"zero tenant":      {tenancy.WithTenant(t.Context(), tenancy.Tenant{Status: tenancy.Active}), tenancy.ErrNoTenant},
		"cancelled tenant": {tenancy.WithTenant(t.Context(), cancelled), tenancy.ErrTenantCancelled},
		"missing schema":   {gone, tenancy.ErrSchemaMissing},
	} {
		err := db.InTx(c.ctx, effectless(t, name))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// effectless is a handler whose first statement must have no effect, and that
// goes on as if nothing were.
func effectless(t *testing.T, name string) func(pgx.Tx) error {
	return func(tx pgx.Tx) error {
		for range 2 {
			if _, err := tx.Exec(t.Context(), `INSERT INTO things (owner) VALUES ('nobody')`); err == nil {
				t.Errorf("%s: a statement of the handler ran", name)
			}
		}
		return nil
	}
}

func TestInTx_RollsBackOnErrorAndPanic(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things, MaxConns: 1})
	ctx := provision(t, db, "acme")
	insert := func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO things (owner) VALUES ('x')`)
		return err
	}
	boom := errors.New("boom")
	if err := db.InTx(ctx, func(tx pgx.Tx) error { return errors.Join(insert(tx), boom) }); !errors.Is(err, boom) {
		t.Errorf("error is %v, want the handler's", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = db.InTx(ctx, func(tx pgx.Tx) error { _ = insert(tx); panic("boom") })
	}()
	short, cancel := context.WithCancel(ctx)
	if err := db.InTx(short, func(tx pgx.Tx) error { defer cancel(); return insert(tx) }); err == nil {
		t.Error("a commit whose context was over is no success")
	}
	if got, err := owners(ctx, db); err != nil || len(got) != 0 {
		t.Errorf("rows %v, %v remain", got, err)
	}
}

func TestInTx_ReturnsTheErrorOfTheCommit(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: files("000001_a.up.sql", `
		CREATE TABLE a (id bigint PRIMARY KEY, other bigint REFERENCES a DEFERRABLE INITIALLY DEFERRED)`)})
	ctx := provision(t, db, "acme")
	err := db.InTx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO a VALUES (1, 2)`)
		return err
	})
	if pgErr := (*pgconn.PgError)(nil); !errors.As(err, &pgErr) || pgErr.Code != "23503" {
		t.Errorf("error is %v, want the deferred foreign key's", err)
	}
	err = db.InTx(ctx, func(tx pgx.Tx) error {
		_, _ = tx.Exec(ctx, `SELECT nonsense`)
		return nil // a handler that hides an error has not succeeded
	})
	if err == nil {
		t.Error("the commit of a failed transaction was reported as done")
	}
}

func TestInTx_OutsideOfItATenantsTableDoesNotExist(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url + "&search_path=tenant_acme", Tenant: things, MaxConns: 1})
	ctx := provision(t, db, "acme")
	if err := add(ctx, db, "acme"); err != nil {
		t.Fatal(err)
	}
	if got := tenancy.SearchPath(t.Context(), db); got != "pg_catalog" {
		t.Errorf("search_path outside of InTx is %q, want pg_catalog", got)
	}
}

func TestInTx_TheClosureRunsAgainWhenTheTableChangedUnderAPlan(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 1})
	ctx := provision(t, db, "acme")
	runs := 0
	read := func() error {
		return db.InTx(ctx, func(tx pgx.Tx) error {
			runs++
			rows, err := tx.Query(ctx, `SELECT * FROM things WHERE owner = $1`, "x")
			if err != nil {
				return err
			}
			rows.Close()
			return rows.Err()
		})
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, url, `ALTER TABLE tenant_acme.things ADD COLUMN more text`)
	if err := read(); err != nil || runs != 3 {
		t.Errorf("after the change: %v with %d runs in all; want success at the third", err, runs)
	}
}

// 64 clients over 20 tenants, with handlers that fail and panic and give up
// mixed in: not one row of another tenant.
func TestInTx_NoForeignRowUnderLoad(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things, MaxConns: 8})
	var tenants []context.Context
	for i := range 20 {
		tenants = append(tenants, provision(t, db, "t"+strconv.Itoa(i)))
	}
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 60 {
				i := rand.IntN(len(tenants))
				if err := visit(tenants[i], db, "t"+strconv.Itoa(i), rand.IntN(8)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// visit does one request's work and its misbehaviour, and returns an error for
// every row that it should not have seen.
func visit(ctx context.Context, db *tenancy.DB, me string, mood int) (err error) {
	defer func() { _ = recover() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_ = db.InTx(ctx, func(tx pgx.Tx) error {
		_, _ = tx.Exec(ctx, `INSERT INTO things (owner) VALUES ($1)`, me)
		switch mood {
		case 0:
			return errors.New("failed")
		case 1:
			panic("panicked")
		case 2:
			cancel()
		case 3:
			_, _ = tx.Exec(ctx, `SELECT nonsense`)
		}
		return nil
	})
	if mood == 2 {
		return nil
	}
	seen, err := owners(ctx, db)
	for _, owner := range seen {
		if owner != me {
			err = errors.Join(err, fmt.Errorf("%s sees a row of %s", me, owner))
		}
	}
	return err
}
