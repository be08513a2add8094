package tenancy_test

import (
	"strings"
	"testing"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A table that a migration rewrites meanwhile is exported with its rows: to a
// snapshot from before, it would be empty.
func TestExport_DuringAMigrationThatRewritesATable(t *testing.T) {
	t.Parallel()
	const first, rows = "000001_a.up.sql", "CREATE TABLE a (n int); INSERT INTO a SELECT generate_series(1, 99)"
	url := pgtest.URL(t)
	provision(t, open(t, tenancy.Options{URL: url, Tenant: files(first, rows)}), "acme")
	newer := open(t, tenancy.Options{URL: url, Tenant: files(first, rows, "000002_b.up.sql", "ALTER TABLE a ALTER n TYPE bigint; SELECT pg_sleep(2)")})
	migrated := make(chan error, 1)
	go func() {
		_, err := newer.MigrateTenants(t.Context(), tenancy.FleetOptions{Jobs: 1})
		migrated <- err
	}()
	await(t, "the table is rewritten, by the transaction for this tenant alone", func() bool {
		return pgtest.Query[bool](t, url, `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event = 'PgSleep' AND now() > xact_start + interval '0.5 s')`)
	})
	if got := export(t, newer, "acme"); !strings.Contains(got, "\n99\n") {
		t.Errorf("the row is not in\n%s", got)
	}
	if err := <-migrated; err != nil {
		t.Error(err)
	}
}
