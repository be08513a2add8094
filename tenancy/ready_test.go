package tenancy_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A tenant that is ready is found, whatever takes long with others: a sign-in and
// every request with a token ask.
func TestEnsureReady_WaitsForNoOtherTenant(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 1, Requests: 1, Sessions: 1})
	provision(t, db, "acme")
	holder := pgtest.Connect(t, url)
	defer holder.Close(context.Background())
	if _, err := holder.Exec(t.Context(), fmt.Sprintf(`BEGIN; SELECT pg_advisory_xact_lock(%d, hashtext('globex'))`, tenancy.LockKey)); err != nil {
		t.Fatal(err)
	}
	made := make(chan error, 1)
	go func() { made <- db.EnsureReady(t.Context(), slug(t, "globex")) }()
	await(t, "one that is made waits", func() bool { return pgtest.Waiting(t, url) == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := db.EnsureReady(ctx, slug(t, "acme")); err != nil {
		t.Errorf("one that is ready: %v", err)
	}
	if _, err := holder.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	if err := <-made; err != nil {
		t.Error(err)
	}
}
