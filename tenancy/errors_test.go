package tenancy_test

import (
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// PostgreSQL 18 tells a deletion that is restricted from other violations of a
// foreign key; a handler need not.
func TestIsForeignKey_OfADeletionThatIsRestricted(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: files("000001_shelves.up.sql", `
		CREATE TABLE shelves (id bigint PRIMARY KEY);
		CREATE TABLE books (id bigint PRIMARY KEY, shelf bigint NOT NULL REFERENCES shelves ON DELETE RESTRICT)`)})
	acme := provision(t, db, "acme")
	for _, sql := range []string{`INSERT INTO shelves VALUES (1)`, `INSERT INTO books VALUES (1, 1)`} {
		if _, err := db.Exec(acme, sql); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(acme, `DELETE FROM shelves`); !tenancy.IsForeignKey(err) {
		t.Errorf("%v, want a violation of a foreign key", err)
	}
}

// Rows that exclude each other are as little there twice as those of a unique
// constraint.
func TestIsUnique_OfRowsThatExcludeEachOther(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: files("000001_bookings.up.sql", `
		CREATE TABLE bookings (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, days daterange NOT NULL, EXCLUDE USING gist (days WITH &&))`)})
	acme := provision(t, db, "acme")
	const book = `INSERT INTO bookings (days) VALUES (daterange($1::text::date, $2::text::date))`
	if _, err := db.Exec(acme, book, "2026-07-01", "2026-07-08"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(acme, book, "2026-07-05", "2026-07-09"); !tenancy.IsUnique(err) {
		t.Errorf("%v, want another row to be in the way", err)
	}
	if _, err := db.Exec(acme, book, "2026-02-30", "2026-07-09"); !tenancy.IsBadValue(err) {
		t.Errorf("%v, want a bad value: there is no such day", err)
	}
}

// A form with two fields that refer to something can so say which of them it is.
func TestConstraint_IsTheOneThatIsViolated(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: files("000001_loans.up.sql", `
		CREATE TABLE books (id bigint PRIMARY KEY);
		CREATE TABLE loans (book_id bigint REFERENCES books, next_id bigint UNIQUE REFERENCES books);
		INSERT INTO books VALUES (1)`)})
	acme := provision(t, db, "acme")
	for _, c := range []struct{ sql, want string }{
		{`INSERT INTO loans VALUES (1, 1)`, ""}, {`INSERT INTO loans VALUES (1, 1)`, "loans_next_id_key"},
		{`INSERT INTO loans VALUES (1, 2)`, "loans_next_id_fkey"}, {`INSERT INTO loans VALUES (2, NULL)`, "loans_book_id_fkey"},
		{`INSERT INTO loans VALUES ('one', NULL)`, ""},
	} {
		if _, err := db.Exec(acme, c.sql); tenancy.Constraint(err) != c.want {
			t.Errorf("%s: %q of %v, want %q", c.sql, tenancy.Constraint(err), err, c.want)
		}
	}
}

// Whatever way a column is tightened, what it refuses is a bad value; other errors
// are none.
func TestIsBadValue_OfAColumnThatIsTightened(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: files("000001_books.up.sql", `
		CREATE TABLE books (id bigint PRIMARY KEY, title varchar(5) NOT NULL, price numeric(4,2) CHECK (price > 0), pages integer)`)})
	acme := provision(t, db, "acme")
	const insert = `INSERT INTO books (id, title, price, pages) VALUES (1, $1, $2::text::numeric, $3)`
	for name, args := range map[string][]any{
		"against a check": {"Emma", "-1", 1}, "too long": {"Persuasion", "1", 1}, "missing": {nil, "1", 1},
		"a price out of range": {"Emma", "100", 1}, "pages out of range": {"Emma", "1", int64(3_000_000_000)}, "too few": {"Emma", "1", int64(-3_000_000_000)},
		"pages that are none": {"Emma", "1", "is"},
	} {
		if _, err := db.Exec(acme, insert, args...); !tenancy.IsBadValue(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, args := range map[string][]any{"right": {"Emma", "1", 1}, "there already": {"Emma", "1", 1}} {
		if _, err := db.Exec(acme, insert, args...); tenancy.IsBadValue(err) {
			t.Errorf("%s: %v is a bad value", name, err)
		}
	}
}

// Text of a user's that is none of its type is a bad value, wherever it is read.
func TestIsBadValue_OfTextThatIsNoneOfItsType(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: files("000001_kinds.up.sql", `CREATE TYPE kind AS ENUM ('a')`)})
	acme := provision(t, db, "acme")
	for sql, text := range map[string]string{
		`SELECT $1::text::numeric`: "x", `SELECT $1::text::date`: "soon", `SELECT ($1::text || '-30')::date`: "2026-02", `SELECT $1::text::kind`: "b",
		`SELECT $1::text::uuid`: "x", `SELECT int4range($1::text::int, 1)`: "5", `SELECT 'a' ~ $1`: "(", `SELECT 'a' LIKE $1`: `\`,
		`SELECT $1::text::jsonb`: "{", `SELECT $1::text::jsonb ->> 'a'`: `{"a": "\u0000"}`, `SELECT convert_from(decode($1::text, 'hex'), 'UTF8')`: "ff",
	} {
		if _, err := db.Exec(acme, sql, text); !tenancy.IsBadValue(err) {
			t.Errorf("%s of %q: %v", sql, text, err)
		}
	}
	if _, err := db.Exec(acme, `SELECT 1 / $1::int`, 0); err == nil || tenancy.IsBadValue(err) {
		t.Errorf("%v is a bad value", err)
	}
}

// A value that cannot be written in a COPY is no fault of the database.
func TestIsBadValue_OfACopy(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: files("000001_prices.up.sql", `CREATE TABLE prices (price numeric PRIMARY KEY)`)})
	acme := provision(t, db, "acme")
	err := db.InTx(acme, func(tx pgx.Tx) error {
		_, err := tx.CopyFrom(acme, pgx.Identifier{"prices"}, []string{"price"}, pgx.CopyFromRows([][]any{{"1"}, {"abc"}}))
		return err
	})
	if !tenancy.IsBadValue(err) || tenancy.IsUnavailable(err) {
		t.Errorf("%v: bad value %v, unavailable %v", err, tenancy.IsBadValue(err), tenancy.IsUnavailable(err))
	}
}

// Of two transactions that wait for each other PostgreSQL ends one, which InTx
// then runs again. One that finds the other in the way may come again.
func TestInTx_RunsAgainAfterADeadlock(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things})
	acme := provision(t, db, "acme")
	for _, owner := range []string{"a", "b"} {
		if err := add(acme, db, owner); err != nil {
			t.Fatal(err)
		}
	}
	var first, done sync.WaitGroup
	first.Add(2)
	runs := make(chan string, 10)
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		meet := sync.OnceFunc(func() { first.Done(); first.Wait() })
		done.Go(func() {
			err := db.InTx(acme, func(tx pgx.Tx) error {
				runs <- order[0]
				for _, owner := range order {
					if _, err := tx.Exec(acme, `SELECT FROM things WHERE owner = $1 FOR UPDATE`, owner); err != nil {
						return err
					}
					meet()
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if len(runs) != 3 {
		t.Errorf("%d runs, want one of the two to run again", len(runs))
	}
	err := db.InTx(acme, func(tx pgx.Tx) error {
		if _, err := tx.Exec(acme, `SELECT FROM things FOR UPDATE`); err != nil {
			return err
		}
		_, err := db.Exec(acme, `SELECT FROM things FOR UPDATE NOWAIT`)
		return err
	})
	if !tenancy.IsContention(err) || tenancy.IsUnavailable(err) {
		t.Errorf("%v, want another transaction to be in the way", err)
	}
}
