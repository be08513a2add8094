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
