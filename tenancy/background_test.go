package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A replica with few connections has one for its tenants.
func TestMigrateInBackground_NeedsOneConnection(t *testing.T) {
	t.Parallel()
	url, _ := fleetOf(t, 3, versionTwo)
	db := open(t, tenancy.Options{URL: url, Tenant: versionTwo, MaxConns: 1})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	db.MigrateInBackground(ctx)
	if n := pgtest.Query[int](t, url, atTwo); n != 3 {
		t.Errorf("%d tenants are up, want all", n)
	}
}

// While one replica migrates, another leaves it to that one.
func TestMigrateInBackground_OneReplicaAtATime(t *testing.T) {
	t.Parallel()
	url, db := fleetOf(t, 3, versionTwo)
	other := pgtest.Connect(t, url)
	defer other.Close(context.Background())
	if _, err := other.Exec(t.Context(), fmt.Sprintf(`BEGIN; SELECT pg_advisory_xact_lock(%d, -1)`, tenancy.LockKey)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.MigrateQuietly(t.Context()); !errors.Is(err, tenancy.ErrBusy) || pgtest.Query[int](t, url, atTwo) != 0 {
		t.Errorf("beside another replica: %v, want ErrBusy and nothing done", err)
	}
	if _, err := other.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	if failed, err := db.MigrateQuietly(t.Context()); err != nil || failed != 0 || pgtest.Query[int](t, url, atTwo) != 3 {
		t.Errorf("after it: %d failed, %v; want all done", failed, err)
	}
}
