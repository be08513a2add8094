package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"testing"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

var (
	versionOne = files("000001_a.up.sql", "CREATE TABLE a (id bigint PRIMARY KEY)")
	versionTwo = files("000001_a.up.sql", "CREATE TABLE a (id bigint PRIMARY KEY)",
		"000002_b.up.sql", "ALTER TABLE a ADD COLUMN b text")
)

// fleetOf makes a database with n tenants at version one, and the same database
// to a program that is at another version.
func fleetOf(t testing.TB, n int, next fs.FS) (url string, db *tenancy.DB) {
	t.Helper()
	url = pgtest.URL(t)
	before := open(t, tenancy.Options{URL: url, Tenant: versionOne})
	for i := range n {
		if err := before.Provision(t.Context(), slug(t, fmt.Sprintf("t%03d", i))); err != nil {
			t.Fatal(err)
		}
	}
	return url, open(t, tenancy.Options{URL: url, Tenant: next, MaxConns: 8})
}

const atTwo = `SELECT count(*) FROM public.tenants WHERE schema_version = 2 AND migrate_error IS NULL`

func TestFleet_OneFailureStopsNobody(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 30, versionTwo)
	pgtest.Exec(t, url, `ALTER TABLE tenant_t007.a ADD COLUMN b int`) // so that the migration fails there
	seen := tenancy.FleetProgress{}
	result, err := db.MigrateTenants(t.Context(), tenancy.FleetOptions{Progress: func(p tenancy.FleetProgress) { seen = p }})
	if err != nil || result.Migrated != 29 || len(result.Failed) != 1 || result.Target != 2 {
		t.Fatalf("%+v, %v", result, err)
	}
	failure := result.Failed[0]
	for _, want := range []string{"000002_b.up.sql", `column "b" of relation "a" already exists`} {
		if failure.Slug != "t007" || !strings.Contains(failure.Error, want) {
			t.Errorf("failure %+v lacks %q", failure, want)
		}
	}
	if seen != (tenancy.FleetProgress{Behind: 30, Migrated: 29, Failed: 1}) {
		t.Errorf("progress ended at %+v", seen)
	}
	if got := pgtest.Query[string](t, url, `SELECT slug || schema_version FROM public.tenants WHERE migrate_error IS NOT NULL`); got != "t0071" {
		t.Errorf("the registry blames %s", got)
	}

	pgtest.Exec(t, url, `ALTER TABLE tenant_t007.a DROP COLUMN b`)
	if result, err = db.MigrateTenants(t.Context(), tenancy.FleetOptions{}); err != nil || result.Migrated != 1 || len(result.Failed) != 0 {
		t.Errorf("after the repair: %+v, %v; want exactly the one", result, err)
	}
	if n := pgtest.Query[int](t, url, atTwo); n != 30 {
		t.Errorf("%d tenants are up, want all", n)
	}
}

func TestFleet_ACanaryThatFailsStopsEverything(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 10, versionTwo)
	pgtest.Exec(t, url, `ALTER TABLE tenant_t000.a ADD COLUMN b int`)
	result, err := db.MigrateTenants(t.Context(), tenancy.FleetOptions{Canary: 1})
	if !errors.Is(err, tenancy.ErrStopped) || result.Migrated != 0 || len(result.Failed) != 1 {
		t.Errorf("%+v, %v; want stopped at the first", result, err)
	}
	pgtest.Exec(t, url, `ALTER TABLE tenant_t000.a DROP COLUMN b`)
	if result, err = db.MigrateTenants(t.Context(), tenancy.FleetOptions{Canary: 3}); err != nil || result.Migrated != 10 {
		t.Errorf("good canaries: %+v, %v; want all", result, err)
	}
}

func TestFleet_TooManyFailuresStopTheRun(t *testing.T) {
	t.Parallel()
	_, db := fleetOf(t, 20, files("000001_a.up.sql", "SELECT 1", "000002_b.up.sql", "SELECT nonsense"))
	result, err := db.MigrateTenants(t.Context(), tenancy.FleetOptions{Jobs: 2, MaxFailures: 3})
	if !errors.Is(err, tenancy.ErrStopped) || len(result.Failed) < 3 || len(result.Failed) > 4 {
		t.Errorf("%d failures, %v; want stopped at 3, give or take who was at work", len(result.Failed), err)
	}
}

func TestFleet_OneTenantAlone(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 3, versionTwo)
	result, err := db.MigrateTenants(t.Context(), tenancy.FleetOptions{Only: slug(t, "t001")})
	if err != nil || result.Migrated != 1 || pgtest.Query[string](t, url, `SELECT slug FROM public.tenants WHERE schema_version = 2`) != "t001" {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestFleet_RunsAtTheSameTimeShareTheWork(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 40, files("000001_a.up.sql", "SELECT 1",
		"000002_b.up.sql", "CREATE TABLE b (n int); INSERT INTO b VALUES (1); SELECT pg_sleep(0.01)"))
	var runs sync.WaitGroup
	migrated := make([]int, 3)
	for i := range migrated {
		runs.Go(func() {
			result, err := db.MigrateTenants(t.Context(), tenancy.FleetOptions{Jobs: 2})
			if err != nil || len(result.Failed) > 0 {
				t.Errorf("%+v, %v", result, err)
			}
			migrated[i] = result.Migrated
		})
	}
	runs.Wait()
	if migrated[0]+migrated[1]+migrated[2] != 40 || pgtest.Query[int](t, url, atTwo) != 40 {
		t.Errorf("runs did %v of 40", migrated)
	}
}

func TestMigrateOnUse_ATenantThatIsBehind(t *testing.T) {
	t.Parallel()
	url, _ := fleetOf(t, 2, versionTwo)
	db := open(t, tenancy.Options{URL: url, Tenant: versionTwo, MigrateOnUse: true})
	tenant, err := db.Tenant(t.Context(), slug(t, "t000"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := tenancy.WithTenant(t.Context(), tenant)
	var users sync.WaitGroup
	for range 8 {
		users.Go(func() {
			if err := db.InTx(ctx, useColumnB(ctx)); err != nil {
				t.Error(err)
			}
		})
	}
	users.Wait()
	if got := pgtest.Query[string](t, url, `SELECT string_agg(slug || schema_version, ' ' ORDER BY slug) FROM public.tenants`); got != "t0002 t0011" {
		t.Errorf("versions are %s; want the used one up and the other as it was", got)
	}
}

// A schema that is gone is a disaster to be told of, not to be papered over
// with an empty one.
func TestFleet_DoesNotRecreateALostSchema(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 2, versionTwo)
	pgtest.Exec(t, url, `DROP SCHEMA tenant_t000 CASCADE`)
	result, err := db.MigrateTenants(t.Context(), tenancy.FleetOptions{})
	if err != nil || result.Migrated != 1 || len(result.Failed) != 1 || !strings.Contains(result.Failed[0].Error, "does not exist") {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestFleet_ACancelledRunReturnsAndLeavesEachTenantWhole(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 20, files("000001_a.up.sql", "SELECT 1",
		"000002_b.up.sql", "CREATE TABLE b (n int); SELECT pg_sleep(0.02); CREATE TABLE c (n int)"))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := db.MigrateTenants(ctx, tenancy.FleetOptions{Progress: func(p tenancy.FleetProgress) {
		if p.Migrated == 5 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want the context's", err)
	}
	half := pgtest.Query[int](t, url, `
		SELECT count(*) FROM public.tenants t
		WHERE (schema_version = 2)::int * 2 <> (
			SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = 'tenant_' || t.slug AND c.relname IN ('b', 'c'))`)
	if half != 0 {
		t.Errorf("%d tenants are half migrated", half)
	}
	if result, err := db.MigrateTenants(t.Context(), tenancy.FleetOptions{}); err != nil || len(result.Failed) > 0 || pgtest.Query[int](t, url, atTwo) != 20 {
		t.Errorf("the next run: %+v, %v; want the rest done", result, err)
	}
}

// What schema/README.md says to do about a big table: the index is built ahead,
// concurrently, and the migration finds it.
func TestFleet_AnIndexThatWasBuiltAheadIsFound(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 2, files("000001_a.up.sql", "CREATE TABLE a (id bigint PRIMARY KEY)",
		"000002_i.up.sql", "CREATE INDEX IF NOT EXISTS a_i ON a ((id % 10))"))
	pgtest.Exec(t, url, `CREATE INDEX CONCURRENTLY a_i ON "tenant_t000".a ((id % 10))`)
	result, err := db.MigrateTenants(t.Context(), tenancy.FleetOptions{})
	if err != nil || result.Migrated != 2 || pgtest.Query[int](t, url, atTwo) != 2 {
		t.Errorf("%+v, %v", result, err)
	}
	if err := db.FindDrift(t.Context(), 1, func(d tenancy.Drift) { t.Error(d) }); err != nil {
		t.Error(err)
	}
}

func TestFleet_MemoryDoesNotGrowWithTheTenants(t *testing.T) {
	_, db := fleetOf(t, 600, versionTwo)
	live := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var early, late int64
	_, err := db.MigrateTenants(t.Context(), tenancy.FleetOptions{Jobs: 2, Progress: func(p tenancy.FleetProgress) {
		switch p.Migrated {
		case 100:
			early = live()
		case 600:
			late = live()
		}
	}})
	if perTenant := (late - early) / 500; err != nil || perTenant > 256 {
		t.Errorf("%d bytes stay for each tenant, %v; want none to speak of", perTenant, err)
	}
}
