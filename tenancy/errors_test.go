package tenancy_test

import (
	"testing"

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
	} {
		if _, err := db.Exec(acme, insert, args...); !tenancy.IsBadValue(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, args := range map[string][]any{"right": {"Emma", "1", 1}, "there already": {"Emma", "1", 1}, "no number": {"Emma", "x", 1}, "no text": {"Emma", "1", "is"}} {
		if _, err := db.Exec(acme, insert, args...); tenancy.IsBadValue(err) {
			t.Errorf("%s: %v is a bad value", name, err)
		}
	}
}
