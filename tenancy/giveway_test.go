package tenancy_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
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

// current is the context of a request that reads the tenant as it is now.
func current(t testing.TB, db *tenancy.DB, name string) context.Context {
	t.Helper()
	tenant, err := db.Tenant(t.Context(), slug(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return tenancy.WithTenant(t.Context(), tenant)
}
