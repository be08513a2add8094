package tenancy_test

import (
	"errors"
	"fmt"
	osexec "os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// The script that the platform's console runs and our own provisioning make the
// same catalog, the version row included.
func TestScript_MakesWhatProvisioningMakes(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: fiveFiles})
	script, err := tenancy.SchemaScript(fiveFiles)
	if err != nil {
		t.Fatal(err)
	}
	psql := osexec.Command("psql", "-Xq1", "-vON_ERROR_STOP=1", "-c", `CREATE SCHEMA tenant_script; SET search_path TO tenant_script, public`, "-f", "-", url)
	psql.Stdin = strings.NewReader(script)
	if out, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before := pgtest.Query[string](t, url, `SELECT version || ' ' || dirty FROM tenant_script.schema_migrations`)
	provision(t, db, "script") // finds it at the latest version, and registers it
	provision(t, db, "own")
	if after := pgtest.Query[string](t, url, `SELECT version || ' ' || dirty FROM tenant_own.schema_migrations`); before != after {
		t.Errorf("version row of the script is %s, of provisioning %s", before, after)
	}
	if err := db.FindDrift(t.Context(), 1, func(d tenancy.Drift) { t.Error(d) }); err != nil {
		t.Error(err)
	}
}

func TestPurge_OfThousandsOfTablesKeepsWithinTheServersLocks(t *testing.T) {
	t.Parallel()
	server, err := localpg.Start(t.Context(), localpg.Options{Fast: true, Params: map[string]string{"max_connections": "12", "max_locks_per_transaction": "64"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	url := server.URL("postgres")
	db := open(t, tenancy.Options{URL: url, Tenant: versionOne, MaxConns: 4})
	provision(t, db, "big")
	for batch := range 15 {
		pgtest.Exec(t, url, fmt.Sprintf(`DO $$ BEGIN FOR i IN 1..100 LOOP EXECUTE
			'CREATE TABLE tenant_big.x%d_' || i || ' (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, b text UNIQUE)'; END LOOP; END $$`, batch))
	}
	pgtest.Exec(t, url, `CREATE VIEW tenant_big.v AS SELECT * FROM tenant_big.a; CREATE TYPE tenant_big.e AS ENUM ('x')`)
	pgtest.Exec(t, url, `ALTER TABLE tenant_big.x1_1 ADD COLUMN r bigint REFERENCES tenant_big.x2_2`)
	if err := dropAtOnce(t, url); !strings.Contains(fmt.Sprint(err), "out of shared memory") {
		t.Fatalf("DROP SCHEMA at once: %v; this test shows nothing", err)
	}
	if err := db.Cancel(t.Context(), slug(t, "big")); err != nil {
		t.Fatal(err)
	}
	if err := db.Purge(t.Context(), slug(t, "big")); err != nil {
		t.Fatal(err)
	}
	if n := pgtest.Query[int](t, url, `SELECT (SELECT count(*) FROM pg_namespace WHERE nspname = 'tenant_big') + (SELECT count(*) FROM public.tenants)`); n != 0 {
		t.Error("something is left")
	}
}

func dropAtOnce(t *testing.T, url string) error {
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), `DROP SCHEMA tenant_big CASCADE`)
	return err
}

func TestPurge_ThatWasInterruptedIsOnlyFinished(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: versionOne})
	provision(t, db, "acme")
	pgtest.Exec(t, url, `UPDATE public.tenants SET status = 'cancelled', cancelled_at = now(), purging_since = now(); DROP TABLE tenant_acme.a`)
	for name, err := range map[string]error{
		"restore": db.Restore(t.Context(), slug(t, "acme")), "provision": db.Provision(t.Context(), slug(t, "acme")),
	} {
		if !errors.Is(err, tenancy.ErrPurging) {
			t.Errorf("%s: %v, want ErrPurging", name, err)
		}
	}
	if err := db.Purge(t.Context(), slug(t, "acme")); err != nil {
		t.Fatal(err)
	}
	provision(t, db, "acme") // a new beginning
	if n := pgtest.Query[int](t, url, `SELECT count(*) FROM tenant_acme.a`); n != 0 {
		t.Error("data came back")
	}
}

func TestRestore_TheDataIsAtThisVersion(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 1, versionTwo)
	pgtest.Exec(t, url, `INSERT INTO tenant_t000.a VALUES (42)`)
	if err := db.Cancel(t.Context(), slug(t, "t000")); err != nil {
		t.Fatal(err)
	}
	if err := db.Restore(t.Context(), slug(t, "t000")); err != nil {
		t.Fatal(err)
	}
	if n := pgtest.Query[int](t, url, `SELECT count(b) + count(id) FROM tenant_t000.a`); n != 1 {
		t.Error("the data is not there")
	}
	tenant, err := db.Tenant(t.Context(), slug(t, "t000"))
	if err != nil || tenant.Status != tenancy.Active || tenant.CancelledAt != nil || tenant.SchemaVersion != 2 {
		t.Errorf("%+v, %v", tenant, err)
	}
}
