package tenancy_test

import (
	"testing"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// Where Citus is installed, the schema is made with its sharding on and files
// go statement by statement. This shows what is sent; Citus itself is not here.
func TestCitus_WhatIsSent(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: files("000001_a.up.sql", `
		CREATE TABLE seen (query text, sharding text);
		INSERT INTO seen SELECT current_query(), current_setting('citus.enable_schema_based_sharding');
		CREATE INDEX i ON seen (query)`)})
	pgtest.Exec(t, pgtest.Admin(t, url), `SET allow_system_table_mods = on;
		INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion) VALUES (999999, 'citus', 10, 2200, false, '13.0')`)
	provision(t, db, "acme")
	want := `INSERT INTO seen SELECT current_query(), current_setting('citus.enable_schema_based_sharding')`
	if got := pgtest.Query[string](t, url, `SELECT query FROM tenant_acme.seen`); got != want {
		t.Errorf("sent was %q, want the statement alone", got)
	}
	if got := pgtest.Query[string](t, url, `SELECT sharding FROM tenant_acme.seen`); got != "on" {
		t.Errorf("sharding is %q", got)
	}
}
