package tenancy_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// A handler that keeps its transaction, in a goroutine of its own for example,
// does not reach the tenant whom its connection serves next.
func TestInTx_WhoeverKeepsItReachesNobodyElse(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, url string) {
		db := open(t, tenancy.Options{Tenant: things, URL: url, MaxConns: 1})
		acme, globex := provision(t, db, "acme"), provision(t, db, "globex")
		for name, how := range map[string]error{"committed": nil, "rolled back": errors.New("no")} {
			var kept, inner pgx.Tx
			err := db.InTx(globex, func(tx pgx.Tx) (err error) {
				kept = tx
				if inner, err = tx.Begin(globex); err != nil {
					return err
				}
				return how
			})
			if !errors.Is(err, how) {
				t.Fatalf("%s: %v", name, err)
			}
			err = db.InTx(acme, func(tx pgx.Tx) error {
				if _, err := tx.Exec(acme, `SELECT owner FROM things`); err != nil {
					return err
				}
				for i, err := range reaches(globex, kept, inner) {
					if !errors.Is(err, pgx.ErrTxClosed) {
						t.Errorf("%s: statement %d of the kept transaction: %v", name, i, err)
					}
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := kept.Exec(globex, `SELECT`); !errors.Is(err, pgx.ErrTxClosed) {
				t.Errorf("%s: on a free connection: %v", name, err)
			}
			if err := add(acme, db, name); err != nil {
				t.Error(err)
			}
		}
		if found := mustOwners(t, acme, db); len(found) != 2 || slices.Contains(found, "globex") {
			t.Errorf("acme has %q, want its own two", found)
		}
	})
}

// reaches is what each way to send something returns.
func reaches(ctx context.Context, kept, inner pgx.Tx) (errs []error) {
	const insert = `INSERT INTO things (owner) VALUES ('globex')`
	add := func(_ any, err error) { errs = append(errs, err) }
	add(nil, kept.QueryRow(ctx, `SELECT owner FROM things`).Scan(new(string)))
	add(kept.Exec(ctx, insert))
	add(kept.Exec(ctx, insert+`; SELECT`))
	add(kept.CopyFrom(ctx, pgx.Identifier{"things"}, []string{"owner"}, pgx.CopyFromRows([][]any{{"globex"}})))
	add(kept.Begin(ctx))
	batch := &pgx.Batch{}
	batch.Queue(insert)
	add(nil, kept.SendBatch(ctx, batch).Close())
	add(inner.Exec(ctx, insert))
	return errs
}

// What a handler ends itself is an error, never a success of half of it.
func TestInTx_AStatementThatEndsItIsAnError(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, url string) {
		db := open(t, tenancy.Options{Tenant: things, URL: url, MaxConns: 1})
		acme := provision(t, db, "acme")
		for _, sql := range []string{`ROLLBACK`, `COMMIT`} {
			err := db.InTx(acme, func(tx pgx.Tx) error {
				if _, err := tx.Exec(acme, `INSERT INTO things (owner) VALUES ('acme')`); err != nil {
					return err
				}
				_, err := tx.Exec(acme, sql)
				return err
			})
			if err == nil {
				t.Errorf("%s: no error", sql)
			}
		}
	})
}

// A name that a handler prepares would stay for the next tenant.
func TestInTx_PreparesByItself(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things, MaxConns: 1})
	acme := provision(t, db, "acme")
	err := db.InTx(acme, func(tx pgx.Tx) error {
		_, err := tx.Prepare(acme, "q", `SELECT owner FROM things`)
		return err
	})
	if err == nil {
		t.Error("it was prepared")
	}
}

// A handler that panics between Query and its rows' end, or forgets to close
// them, costs no connection.
func TestQuery_RowsThatARequestLeavesOpenCostNoConnection(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things, MaxConns: 2})
	acme := provision(t, db, "acme")
	if err := add(acme, db, "acme"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(acme, 10*time.Second)
	defer cancel()
	var left []pgx.Rows
	for range 3 {
		request, used := tenancy.WithUsage(ctx, "of the test")
		if err := errors.Join(add(request, db, "acme"), db.QueryRow(request, `SELECT owner FROM things`).Scan(new(string))); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			rows, err := db.Query(request, `SELECT owner FROM things`) //nolint:sqlclosecheck // that is the point
			if err != nil {
				t.Fatal(err)
			}
			left = append(left, rows)
		}
		if n := used.End(request); n != 2 {
			t.Errorf("%d were left open, want 2", n)
		}
	}
	for _, rows := range left {
		rows.Close() // late: its connection is somebody else's
	}
	ctx, _ = tenancy.WithUsage(ctx, "another")
	var both []pgx.Rows // as many as there are connections, and no more
	for range 2 {
		rows, err := db.Query(ctx, `SELECT owner FROM things`) //nolint:sqlclosecheck // below
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, rows)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if rows, err := db.Query(short, `SELECT owner FROM things`); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third connection: %v", err)
		rows.Close()
	}
	for _, rows := range both {
		rows.Close()
	}
}

// A tenant whose work on shared tables is slow holds up no other tenant's.
func TestInShared_ASlowTenantHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things, MaxConns: 2, Requests: 8})
	acme, globex := provision(t, db, "acme"), provision(t, db, "globex")
	stop, began := make(chan struct{}), make(chan struct{}, 4)
	defer close(stop)
	for range 4 {
		go func() {
			_ = db.InShared(acme, func(pgx.Tx) error {
				began <- struct{}{}
				<-stop
				return nil
			})
		}()
	}
	<-began
	<-began // its share
	ctx, cancel := context.WithTimeout(globex, 10*time.Second)
	defer cancel()
	if err := db.InShared(ctx, func(pgx.Tx) error { return nil }); err != nil {
		t.Errorf("another tenant's: %v", err)
	}
}

// A function of the product's own is called by more than its name, and then leaves
// nothing for the next tenant either.
func TestQuery_AFunctionOfTheProductsLeavesNothing(t *testing.T) {
	t.Parallel()
	const mark = `CREATE FUNCTION mark(a text) RETURNS boolean LANGUAGE sql AS $$ SELECT set_config('app.who', a, false) <> '' $$;`
	for name, way := range map[string]struct{ made, sql string }{
		"attribute": {`CREATE FUNCTION mark(t things) RETURNS text LANGUAGE sql AS $$ SELECT set_config('app.who', t.owner, false) $$`, `SELECT t.mark FROM things t`},
		"operator":  {mark + `CREATE OPERATOR ~~~> (RIGHTARG = text, FUNCTION = mark)`, `SELECT ~~~> t.owner FROM things t`},
		"domain":    {mark + `CREATE DOMAIN named AS text CHECK (mark(VALUE))`, `SELECT t.owner::named FROM things t`},
		"overload":  {strings.Replace(mark, "mark(", "rank(", 1), `SELECT rank(t.owner) FROM things t`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t, tenancy.Options{Tenant: files("000001_things.up.sql", `CREATE TABLE things (owner text NOT NULL); `+way.made), MaxConns: 1})
			acme, globex := provision(t, db, "acme"), provision(t, db, "globex")
			if err := add(acme, db, "acme"); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(acme, way.sql); err != nil {
				t.Fatal(err)
			}
			var seen *string
			if err := db.QueryRow(globex, `SELECT nullif(current_setting('app.who', true), '')`).Scan(&seen); err != nil || seen != nil {
				t.Errorf("globex sees %v, %v", seen, err)
			}
		})
	}
}
