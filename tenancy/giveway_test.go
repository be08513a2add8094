package tenancy_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// While one long reader holds a table, a new replica that migrates its tenant on
// use neither keeps the old replica's users waiting, nor a sign-in.
func TestMigrateOnUse_GivesWayToReaders(t *testing.T) {
	t.Parallel()
	url, _ := fleetOf(t, 1, versionTwo)
	older := open(t, tenancy.Options{URL: url, Tenant: versionOne})
	newer := open(t, tenancy.Options{URL: url, Tenant: versionTwo, MigrateOnUse: true})
	reader, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close(context.Background())
	if _, err := reader.Exec(t.Context(), `BEGIN; SELECT * FROM tenant_t000.a`); err != nil {
		t.Fatal(err)
	}
	ctx := current(t, older, "t000")
	over, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	refused := make(chan error, 1)
	go func() { // users of the new replica, again and again
		var last error
		for over.Err() == nil {
			last = newer.InTx(ctx, func(pgx.Tx) error { return nil })
		}
		refused <- last
	}()
	var waited, slowest time.Duration
	for over.Err() == nil {
		began := time.Now()
		if err := older.InTx(ctx, func(tx pgx.Tx) error { _, err := tx.Exec(ctx, `SELECT count(*) FROM a`); return err }); err != nil {
			t.Fatal(err)
		}
		s := tenancy.Session{Tenant: slug(t, "t000"), UserID: "u", Data: []byte("{}"), ExpiresAt: time.Now().Add(time.Hour)}
		if err := older.SaveSession(t.Context(), began.String(), s); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 100*time.Millisecond {
			waited += took
			slowest = max(slowest, took)
		}
	}
	if err := <-refused; !errors.Is(err, tenancy.ErrNotMigrated) {
		t.Errorf("the new replica's users: %v, want ErrNotMigrated", err)
	}
	if waited > 3*time.Second || slowest > 1500*time.Millisecond {
		t.Errorf("the old replica's users waited %v of 6 s, %v at once", waited, slowest)
	}
	_ = reader.Close(context.Background())
	await(t, "the tenant is migrated", func() bool { return newer.InTx(ctx, func(pgx.Tx) error { return nil }) == nil })
}

// A run of one tenant, a canary, or a run that counts its failures waits for a
// table in use as any other does: no reader is a failed migration.
func TestFleet_ATableInUseIsNoFailure(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]tenancy.FleetOptions{
		"one tenant": {Only: slug(t, "t000")}, "a canary": {Canary: 1, Jobs: 1}, "no failure": {MaxFailures: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, db := fleetOf(t, 1, versionTwo)
			release := pgtest.Lock(t, url, `tenant_t000.a IN ACCESS SHARE MODE`)
			type end struct {
				result tenancy.FleetResult
				err    error
			}
			ended := make(chan end, 1)
			go func() {
				result, err := db.MigrateTenants(t.Context(), o)
				ended <- end{result, err}
			}()
			tries := map[string]bool{}
			await(t, "it has given way once and tries again", func() bool {
				tries[pgtest.Query[string](t, url, `SELECT coalesce(max(xact_start)::text, '') FROM pg_stat_activity
					WHERE datname = current_database() AND wait_event_type = 'Lock'`)] = true
				delete(tries, "")
				return len(tries) > 1 || len(ended) > 0
			})
			release()
			if got := <-ended; got.err != nil || got.result.Migrated != 1 || len(got.result.Failed) != 0 {
				t.Errorf("%+v, %v; want it migrated", got.result, got.err)
			}
			if n := pgtest.Query[int](t, url, atTwo); n != 1 {
				t.Errorf("%d tenants are up, want the one", n)
			}
		})
	}
}

// current is the context of a request that reads the tenant as it is now.
func current(t testing.TB, db *tenancy.DB, name string) context.Context {
	t.Helper()
	tenant, err := db.Tenant(t.Context(), slug(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return tenancy.WithTenant(t.Context(), tenant)
}
