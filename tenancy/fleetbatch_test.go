package tenancy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// Tenants share a transaction, and nothing else: one that fails, one whose
// tables are in use and one that is not what the registry says keep nobody back.
func TestFleet_InABatchEveryoneIsOnTheirOwn(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 40, files("000001_a.up.sql", "CREATE TABLE a (id bigint PRIMARY KEY)",
		"000002_b.up.sql", "ALTER TABLE a ALTER COLUMN id TYPE int; CREATE TABLE IF NOT EXISTS b (n int); INSERT INTO b VALUES (1)"))
	pgtest.Exec(t, url, `CREATE VIEW tenant_t007.in_the_way AS SELECT id FROM tenant_t007.a;
		CREATE TABLE tenant_t009.b (n int); INSERT INTO tenant_t009.b VALUES (1); UPDATE tenant_t009.schema_migrations SET version = 2`)
	reader, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close(context.Background())
	if _, err := reader.Exec(t.Context(), `BEGIN; LOCK TABLE tenant_t011.a IN ACCESS SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	var last tenancy.FleetProgress
	result, err := db.MigrateTenants(t.Context(), tenancy.FleetOptions{Jobs: 3, Progress: func(p tenancy.FleetProgress) {
		if last = p; p.Migrated == 38 { // all but the one in use
			_, _ = reader.Exec(t.Context(), `COMMIT`)
		}
	}})
	if err != nil || result.Migrated != 39 || len(result.Failed) != 1 || result.Failed[0].Slug != "t007" ||
		!strings.Contains(result.Failed[0].Error, "000002") || last.Migrated != 39 || last.Failed != 1 {
		t.Errorf("%+v %+v %v", result, last, err)
	}
	if n := pgtest.Query[int](t, url, `SELECT count(*) FROM public.tenants WHERE schema_version = 2 AND migrate_error IS NULL`); n != 39 {
		t.Errorf("%d are at version 2, want 39", n)
	}
	if n := pgtest.Query[int](t, url, `SELECT count(*) FROM tenant_t009.b`); n != 1 {
		t.Errorf("what had been run there before was run again: %d rows", n)
	}
}

// A tenant that takes long is done alone: those before it in its batch are not
// kept locked meanwhile.
func TestFleet_ALargeTenantLeavesItsBatch(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 3, files("000001_a.up.sql", "CREATE TABLE a (id bigint PRIMARY KEY)", "000002_b.up.sql", `
		SET LOCAL lock_timeout = 0;
		DO $$ BEGIN IF current_schema() = 'tenant_t001' THEN LOCK TABLE gate; END IF; END $$`))
	pgtest.Exec(t, url, `CREATE TABLE public.gate (n int)`)
	open := pgtest.Lock(t, url, "public.gate")
	done := make(chan error, 1)
	go func() {
		result, err := db.MigrateTenants(t.Context(), tenancy.FleetOptions{Jobs: 1})
		if err == nil && (result.Migrated != 3 || len(result.Failed) > 0) {
			err = fmt.Errorf("%+v", result)
		}
		done <- err
	}()
	await(t, "the one before it is up", func() bool { return pgtest.Query[int](t, url, atTwo) == 1 })
	open()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A file that cannot even be read as SQL harms nobody else, and is named.
func TestFleet_AFileThatIsNoSQL(t *testing.T) {
	t.Parallel()
	broken := files("000001_a.up.sql", "CREATE TABLE a (id bigint PRIMARY KEY)",
		"000002_broken.up.sql", "ALTER TABLE a ADD COLUMN b text; SELECT 'never closed")
	_, db := fleetOf(t, 5, broken)
	result, err := db.MigrateTenants(t.Context(), tenancy.FleetOptions{})
	if err != nil || result.Migrated != 0 || len(result.Failed) != 5 || !strings.Contains(fmt.Sprint(result.Failed), "000002_broken.up.sql") {
		t.Errorf("%+v %v", result, err)
	}
}
