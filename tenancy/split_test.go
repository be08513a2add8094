package tenancy_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/subproduct/tenancy"
)

func TestSplitSQL(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string][]string{
		"":                                 nil,
		" ; ;; ":                           nil,
		"SELECT 1":                         {"SELECT 1"},
		"SELECT 1; SELECT 2;":              {"SELECT 1", "SELECT 2"},
		"-- a; b\nSELECT 1 -- c; d\n;x":    {"SELECT 1 -- c; d", "x"},
		"/* a; /* b; */ c; */ SELECT 1":    {"SELECT 1"},
		`SELECT ';', 'it''s;', "a;""b"; x`: {`SELECT ';', 'it''s;', "a;""b"`, "x"},
		`SELECT E'\';', e'\\'; x`:          {`SELECT E'\';', e'\\'`, "x"},
		`SELECT type'\'; x`:                {`SELECT type'\'`, "x"},
		`DO $$ BEGIN x; END $$; y`:         {`DO $$ BEGIN x; END $$`, "y"},
		`DO $a$ $$ ; $b$ ; $a$; y`:         {`DO $a$ $$ ; $b$ ; $a$`, "y"},
		`SELECT $1; SELECT a$b; c`:         {"SELECT $1", "SELECT a$b", "c"},
		`CREATE RULE r AS ON INSERT TO a DO (x; y); z`: {`CREATE RULE r AS ON INSERT TO a DO (x; y)`, "z"},
		`CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END; z`: {
			`CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END`, "z"},
		`SELECT 'never closed; x`: {`SELECT 'never closed; x`},
	} {
		if got := tenancy.SplitSQL(sql); !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", sql, got, want)
		}
	}
}

func TestMigrations_FilesThatWouldBreakAllOrNothingAreRefusedAtStart(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		"CREATE TABLE a (id int); COMMIT; BEGIN; CREATE TABLE b (id int)", "begin; select 1", "START TRANSACTION", "END", "ROLLBACK", "/* x */ commit",
		"SAVEPOINT a", "PREPARE TRANSACTION 'x'", "CREATE UNIQUE INDEX CONCURRENTLY i ON a (b)", "VACUUM a",
	} {
		_, err := tenancy.Open(t.Context(), tenancy.Options{URL: "postgres://x", Tenant: files("000001_a.up.sql", sql)})
		if err == nil || !strings.Contains(err.Error(), "000001_a.up.sql") {
			t.Errorf("%s: %v; want refused, with the file's name", sql, err)
		}
	}
	for _, sql := range []string{"DO $$ BEGIN COMMIT; END $$", "-- COMMIT;\nSELECT 'COMMIT;'", "COMMENT ON TABLE a IS 'BEGIN'"} {
		if _, err := tenancy.Open(t.Context(), tenancy.Options{URL: "postgres://x", Tenant: files("000001_a.up.sql", sql)}); err != nil {
			t.Errorf("%s: %v; want accepted", sql, err)
		}
	}
}

// An extension is the whole database's: in the schema of one tenant it would go
// with that, and with it what the others have made by it.
func TestMigrations_AnExtensionIsNoTenants(t *testing.T) {
	t.Parallel()
	const sql = "-- for dates\ncreate  EXTENSION IF NOT EXISTS btree_gist"
	_, err := tenancy.Open(t.Context(), tenancy.Options{URL: "postgres://x", Tenant: files("000001_a.up.sql", sql)})
	if err == nil || !strings.Contains(err.Error(), "000001_a.up.sql") || !strings.Contains(err.Error(), "schema/shared") {
		t.Errorf("%v, want to be told where it belongs", err)
	}
	if _, err := tenancy.Open(t.Context(), tenancy.Options{URL: "postgres://x", Shared: files("000001_a.up.sql", sql)}); err != nil {
		t.Errorf("of the shared tables: %v", err)
	}
}
