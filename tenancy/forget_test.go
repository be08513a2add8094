package tenancy_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// Whatever a handler leaves on its connection for the session's life, nothing
// of it is there for the next transaction, whether it committed or failed.
func TestInTx_LeavesNothingOfARequestOnItsConnection(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	login := pgx.Identifier{pgtest.Query[string](t, url, `SELECT current_user`)}.Sanitize()
	pgtest.Exec(t, pgtest.Admin(t, url), `DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'somebody') THEN CREATE ROLE somebody; END IF; EXCEPTION WHEN unique_violation THEN END $$;
		GRANT somebody TO `+login)
	state := map[string]string{ // what is left, and where it would show
		`SET search_path TO tenant_acme`:                      `SELECT replace(current_setting('search_path'), '"', '') = 'tenant_globex, public, pg_temp'`,
		`SET ROLE somebody`:                                   `SELECT current_user = session_user`,
		`SET SESSION AUTHORIZATION somebody`:                  `SELECT session_user <> 'somebody'`,
		`SET statement_timeout TO '1ms'`:                      `SELECT current_setting('statement_timeout') = '0'`,
		`SET my.secret TO 'acme'`:                             `SELECT coalesce(current_setting('my.secret', true), '') = ''`,
		`SET default_transaction_read_only TO on`:             `SELECT current_setting('transaction_read_only') = 'off'`,
		`SELECT nextval('counter')`:                           `SELECT true`, // lastval is asked for in any case
		`SELECT pg_advisory_lock(42)`:                         `SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`,
		`DECLARE c CURSOR WITH HOLD FOR SELECT * FROM things`: `SELECT count(*) = 0 FROM pg_cursors WHERE name = 'c'`,
		`LISTEN gossip`:                                       `SELECT count(*) = 0 FROM pg_listening_channels()`,
		`CREATE TEMP TABLE scratch AS SELECT * FROM things`:   `SELECT to_regclass('scratch') IS NULL`,
	}
	if !pgtest.Query[bool](t, url, `SELECT current_setting('is_superuser')::bool`) {
		delete(state, `SET SESSION AUTHORIZATION somebody`) // only a superuser may
	}
	counted := files("000001_things.up.sql", "CREATE TABLE things (owner text NOT NULL); CREATE SEQUENCE counter")
	for name, way := range map[string]string{"directly": url, "through a pooler": pgtest.Pooler(t, url)} {
		t.Run(name, func(t *testing.T) {
			db := open(t, tenancy.Options{URL: way, Tenant: counted, MaxConns: 1})
			acme, globex := provision(t, db, "acme"), provision(t, db, "globex")
			if err := add(acme, db, "acme"); err != nil {
				t.Fatal(err)
			}
			for left, check := range state {
				for _, end := range []error{nil, errors.New("fails"), errCommitted} {
					err := db.InTx(acme, func(tx pgx.Tx) error {
						_, err := tx.Exec(acme, left)
						if errors.Is(end, errCommitted) && err == nil {
							_, err = tx.Exec(acme, `COMMIT`)
						}
						return errors.Join(err, end)
					})
					if end == nil && err != nil || end != nil && err.Error() != end.Error() {
						t.Errorf("%s: %v", left, err)
					}
					wantClean(t, globex, db, left, check)
				}
			}
		})
	}
}

// errCommitted has a handler say COMMIT itself.
var errCommitted = errors.New("commits by hand")

func wantClean(t *testing.T, ctx context.Context, db *tenancy.DB, left, check string) {
	t.Helper()
	var clean bool
	err := db.InTx(ctx, func(tx pgx.Tx) error { return tx.QueryRow(ctx, check).Scan(&clean) })
	if err != nil || !clean {
		t.Errorf("after %s the next tenant finds it: %v", left, err)
	}
	err = db.InTx(ctx, func(tx pgx.Tx) error { _, err := tx.Exec(ctx, `SELECT lastval()`); return err })
	if err == nil || !strings.Contains(err.Error(), "lastval") {
		t.Errorf("after %s the next tenant has a lastval: %v", left, err)
	}
	if seen, err := owners(ctx, db); err != nil || len(seen) != 0 {
		t.Errorf("after %s another tenant sees %v, %v", left, seen, err)
	}
}

// A temporary table that a tenant's handler left is not read by another
// tenant's migration on the same connection.
func TestProvision_DoesNotSeeATemporaryTable(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 1})
	acme := provision(t, db, "acme")
	if err := add(acme, db, "acme"); err != nil {
		t.Fatal(err)
	}
	err := db.InTx(acme, func(tx pgx.Tx) error {
		_, err := tx.Exec(acme, `CREATE TEMP TABLE things AS SELECT * FROM tenant_acme.things`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen, err := owners(provision(t, db, "globex"), db); err != nil || len(seen) != 0 {
		t.Errorf("a new tenant has %v, %v", seen, err)
	}
}

// A client that hangs up in the middle of a statement has it cancelled, and
// costs no connection, unless the server takes its time to cancel.
func TestInTx_ACancelledStatementKeepsItsConnection(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 1})
	acme := provision(t, db, "acme")
	backend := func() (pid int) {
		err := db.InTx(acme, func(tx pgx.Tx) error { return tx.QueryRow(acme, `SELECT pg_backend_pid()`).Scan(&pid) })
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	kept := 0
	for range 5 {
		before := backend()
		ctx, hangUp := context.WithCancel(acme)
		err := db.InTx(ctx, func(tx pgx.Tx) error {
			time.AfterFunc(20*time.Millisecond, hangUp)
			_, err := tx.Exec(ctx, `SELECT pg_sleep(60)`)
			return err
		})
		if err == nil {
			t.Fatal("the statement went on")
		}
		if n := pgtest.Query[int](t, url, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`); n != 0 {
			t.Error("the statement goes on at the server")
		}
		if backend() == before {
			kept++
		}
	}
	if kept < 3 {
		t.Errorf("the connection was kept %d times of 5", kept)
	}
}

// A temporary table of the same name is looked at after the tenant's own and
// after the product-wide ones, also in the transaction that makes it.
func TestInTx_ATemporaryTableHidesNothing(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things})
	acme := provision(t, db, "acme")
	if err := add(acme, db, "acme"); err != nil {
		t.Fatal(err)
	}
	var seen int
	err := db.InTx(acme, func(tx pgx.Tx) error {
		if _, err := tx.Exec(acme, `CREATE TEMP TABLE things AS SELECT * FROM things LIMIT 0`); err != nil {
			return err
		}
		return tx.QueryRow(acme, `SELECT count(*) FROM things`).Scan(&seen)
	})
	if err != nil || seen != 1 {
		t.Errorf("%d rows of the tenant's own table are seen, %v", seen, err)
	}
}

// What survives a rollback is dropped on the very backend that has it, also
// when a pooler gives out a different one for each message.
func TestInTx_AFailedHandlersLocksAreDroppedBehindAPooler(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: pgtest.Pooler(t, url), Tenant: things, MaxConns: 16})
	acme := provision(t, db, "acme")
	failed := errors.New("fails")
	var left atomic.Int64
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := range 20 {
				err := db.InTx(acme, func(tx pgx.Tx) error {
					var found int64
					err := tx.QueryRow(acme, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`).Scan(&found)
					left.Add(found)
					if err == nil {
						_, err = tx.Exec(acme, `SELECT pg_advisory_lock($1::int, $2::int)`, 4711, 100*i+n)
					}
					return errors.Join(err, failed)
				})
				if !errors.Is(err, failed) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := left.Load(); n != 0 {
		t.Errorf("%d times a transaction found locks of another on its backend", n)
	}
}
