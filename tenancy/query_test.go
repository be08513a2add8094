package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// everyWay runs a test on a database as it is, and behind a pooler in
// transaction mode.
func everyWay(t *testing.T, test func(t *testing.T, url string)) {
	url := pgtest.URL(t)
	t.Run("directly", func(t *testing.T) { test(t, url) })
	url = pgtest.URL(t)
	t.Run("through a pooler", func(t *testing.T) { test(t, pgtest.Pooler(t, url)) })
}

func TestQuery_WorksOnTheTenantsDataAlone(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, url string) {
		db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 1})
		acme, globex := provision(t, db, "acme"), provision(t, db, "globex")
		for i := range 5 { // past what is prepared, and planned for a tenant
			for ctx, name := range map[context.Context]string{acme: "acme", globex: "globex"} {
				tag, err := db.Exec(ctx, `INSERT INTO things (owner) VALUES ($1)`, name)
				if err != nil || tag.RowsAffected() != 1 {
					t.Fatalf("%v %v", tag, err)
				}
				var n int
				var owner string
				if err := db.QueryRow(ctx, `SELECT count(*), min(owner) FROM things WHERE owner <> $1`, "nobody").Scan(&n, &owner); err != nil || n != i+1 || owner != name {
					t.Errorf("%s sees %d of %s: %v", name, n, owner, err)
				}
				rows, err := db.Query(ctx, `SELECT owner FROM things`)
				if err != nil {
					t.Fatal(err)
				}
				if all, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || len(all) != i+1 || all[0] != name {
					t.Errorf("%s sees %v: %v", name, all, err)
				}
			}
		}
	})
}

func TestQuery_FailsClosed(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, url string) {
		db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 1})
		gone, cancelled, acme := provision(t, db, "gone"), provision(t, db, "cancelled"), provision(t, db, "acme")
		if err := add(acme, db, "acme"); err != nil {
			t.Fatal(err)
		}
		if err := db.Cancel(t.Context(), slug(t, "cancelled")); err != nil {
			t.Fatal(err)
		}
		if err := db.InShared(t.Context(), func(tx pgx.Tx) error {
			// What a lost schema would fall through to.
			_, err := tx.Exec(t.Context(), `DROP SCHEMA tenant_gone CASCADE; CREATE TABLE public.things (owner text)`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			for name, c := range map[string]struct {
				ctx  context.Context
				want error
			}{
				"no tenant": {t.Context(), tenancy.ErrNoTenant}, "cancelled": {cancelled, tenancy.ErrTenantCancelled},
				"gone": {gone, tenancy.ErrSchemaMissing}, "gone, of a request": {request(t, db, "gone"), tenancy.ErrSchemaMissing},
			} {
				if _, err := db.Exec(c.ctx, `INSERT INTO things (owner) VALUES ('nobody')`); !errors.Is(err, c.want) {
					t.Errorf("%s: %v, want %v", name, err, c.want)
				}
				var n int
				if err := db.QueryRow(c.ctx, `SELECT count(*) FROM things`).Scan(&n); !errors.Is(err, c.want) {
					t.Errorf("%s: read %d, %v, want %v", name, n, err, c.want)
				}
			}
			if seen, err := owners(acme, db); err != nil || fmt.Sprint(seen) != "[acme]" {
				t.Errorf("afterwards: %v, %v", seen, err)
			}
		}
		err := db.InShared(t.Context(), func(tx pgx.Tx) error {
			var n int
			err := tx.QueryRow(t.Context(), `SELECT count(*) FROM public.things`).Scan(&n)
			if n > 0 {
				t.Errorf("%d rows fell through to public", n)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// What one statement leaves on its connection is not there for the next.
func TestQuery_LeavesNothingOnItsConnection(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, url string) {
		db := open(t, tenancy.Options{URL: url, Tenant: files("000001_things.up.sql", `
			CREATE TABLE things (owner text NOT NULL); CREATE SEQUENCE counter;
			CREATE FUNCTION sneaky() RETURNS text LANGUAGE sql AS $$ SELECT set_config('my.secret', 'acme', false) $$`), MaxConns: 1})
		acme, globex := provision(t, db, "acme"), provision(t, db, "globex")
		if err := add(acme, db, "acme"); err != nil {
			t.Fatal(err)
		}
		for left, check := range map[string]string{
			`SELECT set_config('search_path', 'tenant_acme', false)`: `SELECT current_setting('search_path') LIKE '%globex%'`,
			`SET statement_timeout TO '1ms'`:                         `SELECT current_setting('statement_timeout') = '0'`,
			`SELECT sneaky()`:                                        `SELECT coalesce(current_setting('my.secret', true), '') = ''`,
			`SELECT nextval('counter')`:                              `SELECT true`,
			`SELECT pg_advisory_lock(42)`:                            `SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`,
			`SELECT pg_advisory_lock(43), 1 / (random() * 0)::int`:   `SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`,
			`CREATE TEMP TABLE things AS SELECT * FROM things`:       `SELECT to_regclass('pg_temp.things') IS NULL`,
			`BEGIN`:  `SELECT true`,
			`COMMIT`: `SELECT true`,
		} {
			for range 2 {
				_, _ = db.Exec(acme, left)
				wantClean(t, globex, db, left, check)
			}
		}
		if path := tenancy.SearchPath(t.Context(), db); path != "pg_catalog" {
			t.Errorf("the connection is left at %q", path)
		}
	})
}

// A temporary table that is on a connection, however it came there, is not there
// for a tenant's statement.
func TestQuery_ATemporaryTableIsNotThere(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{URL: pgtest.URL(t), Tenant: things, Requests: 1, Configure: func(c *pgxpool.Config) {
		ready := c.AfterConnect
		c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, `CREATE TEMP TABLE scratch AS SELECT 'acme'::text AS owner`)
			return errors.Join(err, ready(ctx, conn))
		}
	}})
	acme := provision(t, db, "acme")
	for range 3 {
		for _, ctx := range []context.Context{acme, request(t, db, "acme")} {
			if _, err := db.Exec(ctx, `SELECT owner FROM scratch`); err == nil {
				t.Error("it is there")
			}
		}
		if err := add(acme, db, "acme"); err != nil {
			t.Error(err)
		}
	}
}

// The commit's error is the statement's: a constraint that is checked then, on
// the tenant's tables.
func TestQuery_ReturnsTheCommitsError(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, url string) {
		db := open(t, tenancy.Options{URL: url, MaxConns: 1, Tenant: files("000001_pairs.up.sql",
			`CREATE TABLE pairs (id int PRIMARY KEY, other int REFERENCES pairs DEFERRABLE INITIALLY DEFERRED);
			CREATE FUNCTION lonely() RETURNS trigger LANGUAGE plpgsql AS $$
				BEGIN PERFORM FROM pairs WHERE id = NEW.id; RETURN NULL; END $$;
			CREATE CONSTRAINT TRIGGER lonely AFTER INSERT ON pairs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION lonely()`)})
		acme := provision(t, db, "acme")
		if _, err := db.Exec(acme, `INSERT INTO pairs VALUES (1, 2)`); !tenancy.IsForeignKey(err) {
			t.Errorf("%v", err)
		}
		var id int
		if err := db.QueryRow(acme, `INSERT INTO pairs VALUES (1, 2) RETURNING id`).Scan(&id); !tenancy.IsForeignKey(err) {
			t.Errorf("%v", err)
		}
		if err := db.QueryRow(acme, `SELECT id FROM pairs`).Scan(&id); !errors.Is(err, pgx.ErrNoRows) {
			t.Errorf("%v, want no rows", err)
		}
		if _, err := db.Exec(acme, `INSERT INTO pairs VALUES (1, 1)`); err != nil {
			t.Errorf("a trigger that is deferred does not find the tenant's table: %v", err)
		}
	})
}

// Tenants at different versions share a connection, and one that is migrated
// goes on being read.
func TestQuery_TablesOfDifferentVersions(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 1})
	acme, globex := provision(t, db, "acme"), provision(t, db, "globex")
	read := func(ctx context.Context) {
		t.Helper()
		rows, err := db.Query(ctx, `SELECT * FROM things`)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pgx.CollectRows(rows, pgx.RowToMap); err != nil {
			t.Fatal(err)
		}
	}
	owned := func(ctx context.Context) {
		t.Helper()
		var n int
		if err := db.QueryRow(ctx, `SELECT count(*) FROM things WHERE owner = $1`, 7).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 8 {
		read(acme)
		read(globex)
		if i == 5 {
			pgtest.Exec(t, url, `ALTER TABLE tenant_acme.things ADD COLUMN later int; ALTER TABLE tenant_globex.things ALTER COLUMN owner TYPE varchar`)
		}
	}
	// Here the result is the same, and what is sent is not.
	pgtest.Exec(t, url, `ALTER TABLE tenant_acme.things ALTER COLUMN owner TYPE int USING 7; ALTER TABLE tenant_globex.things ALTER COLUMN owner TYPE bigint USING 7`)
	for range 8 {
		owned(acme)
		owned(globex)
	}
}

// A connection comes back whatever becomes of the rows.
func TestQuery_GivesItsConnectionBack(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things, MaxConns: 1})
	acme := provision(t, db, "acme")
	over, cancel := context.WithCancel(acme)
	cancel()
	for range 3 {
		rows, err := db.Query(acme, `SELECT generate_series(1, 100000)`)
		if err != nil || !rows.Next() {
			t.Fatal(err)
		}
		rows.Close()
		if _, err := db.Exec(acme, `SELECT nonsense`); err == nil {
			t.Error("nonsense was understood")
		}
		for range 3 {
			for _, wrong := range []any{[]string{"no", "number"}, "no number"} { // found out by the server, and before
				if _, err := db.Exec(acme, `SELECT $1::int`, wrong); err == nil {
					t.Errorf("%v was taken for a number", wrong)
				}
			}
		}
		if _, err := db.Exec(over, `SELECT 1`); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		var n int
		if err := db.QueryRow(acme, `SELECT $1::int`, 7).Scan(&n); err != nil || n != 7 {
			t.Errorf("after an argument that is no number: %d, %v", n, err)
		}
		var wrong int
		if err := db.QueryRow(acme, `SELECT 'text'`).Scan(&wrong); err == nil {
			t.Error("text was scanned into a number")
		}
	}
}

// Known statements are one round trip, and InTx is COMMIT and one for each.
func TestQuery_RoundTrips(t *testing.T) {
	t.Parallel()
	var count atomic.Int64
	db := open(t, tenancy.Options{URL: pgtest.URL(t), Tenant: things, MaxConns: 1, Configure: func(c *pgxpool.Config) {
		dial := c.ConnConfig.DialFunc
		c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			return &wire{Conn: conn, turns: &count}, err
		}
	}})
	acme := provision(t, db, "acme")
	statements := func(exec func(sql string) (pgconn.CommandTag, error)) error {
		_, err := exec(`SELECT owner FROM things`)
		_, err2 := exec(`INSERT INTO things VALUES ('x')`)
		return errors.Join(err, err2)
	}
	one := func(sql string) (pgconn.CommandTag, error) { return db.Exec(acme, sql) }
	if err := statements(one); err != nil {
		t.Fatal(err)
	}
	await(t, "the tenant's tables are counted, once", db.TablesCounted)
	for range 6 {
		before := count.Load()
		if err := statements(one); err != nil {
			t.Fatal(err)
		}
		if n := count.Load() - before; n != 2 {
			t.Errorf("two statements: %d round trips, want 2", n)
		}
		before = count.Load()
		err := db.InTx(acme, func(tx pgx.Tx) error {
			return statements(func(sql string) (pgconn.CommandTag, error) { return tx.Exec(acme, sql) })
		})
		if n := count.Load() - before; err != nil || n != 3 {
			t.Errorf("InTx with two statements: %d round trips, want 3; %v", n, err)
		}
	}
}

type wire struct {
	net.Conn
	wrote bool
	turns *atomic.Int64
}

func (w *wire) Write(b []byte) (int, error) { w.wrote = true; return w.Conn.Write(b) }
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if n > 0 && w.wrote {
		w.wrote = false
		w.turns.Add(1)
	}
	return n, err
}

// InTx ends the transaction, and nobody else; the rest of pgx.Tx is there.
func TestInTx_IsAWholeTransaction(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, url string) {
		db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 1})
		acme := provision(t, db, "acme")
		err := db.InTx(acme, func(tx pgx.Tx) error {
			if tx.Commit(acme) == nil || tx.Rollback(acme) == nil {
				t.Error("a handler ended the transaction")
			}
			nested := pgx.BeginFunc(acme, tx, func(tx pgx.Tx) error {
				_, err := tx.Exec(acme, `INSERT INTO things VALUES ('undone')`)
				return errors.Join(err, errors.New("undo"))
			})
			if nested == nil || !strings.Contains(nested.Error(), "undo") {
				t.Errorf("%v", nested)
			}
			if _, err := tx.CopyFrom(acme, pgx.Identifier{"things"}, []string{"owner"}, pgx.CopyFromRows([][]any{{"copied"}})); err != nil {
				return err
			}
			batch := &pgx.Batch{}
			batch.Queue(`INSERT INTO things VALUES ($1)`, "batched")
			return tx.SendBatch(acme, batch).Close()
		})
		if err != nil {
			t.Fatal(err)
		}
		if seen, err := owners(acme, db); err != nil || fmt.Sprint(seen) != "[batched copied]" && fmt.Sprint(seen) != "[copied batched]" {
			t.Errorf("%v %v", seen, err)
		}
		if err := db.InTx(acme, func(tx pgx.Tx) error { _ = tx.Conn(); return nil }); err != nil {
			t.Error(err)
		}
	})
}

// Many at once, over few connections, with failures between: everybody sees
// their own rows.
func TestQuery_NoForeignRow(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, url string) {
		db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 2, Requests: 8})
		var users sync.WaitGroup
		for i := range 12 {
			name := fmt.Sprintf("t%d", i)
			ctx := provision(t, db, name)
			users.Go(func() {
				for n := range 60 {
					if n%7 == 0 {
						_, _ = db.Exec(ctx, `CREATE TEMP TABLE things AS SELECT * FROM things`)
						_, _ = db.Exec(ctx, `SELECT 1 / 0`)
						_, _ = db.Exec(ctx, `SELECT set_config('search_path', 'tenant_t0', false)`)
					}
					if _, err := db.Exec(ctx, `INSERT INTO things VALUES ($1)`, name); err != nil {
						t.Error(err)
					}
					var mine, others int
					err := db.QueryRow(ctx, `SELECT count(*) FILTER (WHERE owner = $1), count(*) FILTER (WHERE owner <> $1) FROM things`, name).Scan(&mine, &others)
					if err != nil || mine != n+1 || others != 0 {
						t.Errorf("%s: %d of its own, %d of others: %v", name, mine, others, err)
					}
				}
			})
		}
		users.Wait()
	})
}
