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

// A sign-in that finds no tenant yet, and waits while it is cancelled, does not
// bring it back: a cancellation may come before the subscription's own event.
func TestEnsureReady_ACancellationThatComesFirstHolds(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things})
	holder := pgtest.Connect(t, url)
	defer holder.Close(context.Background())
	if _, err := holder.Exec(t.Context(), fmt.Sprintf(`BEGIN; SELECT pg_advisory_xact_lock(%d, hashtext('acme'))`, tenancy.LockKey)); err != nil {
		t.Fatal(err)
	}
	made := make(chan error, 1)
	go func() { made <- db.EnsureReady(t.Context(), slug(t, "acme")) }()
	await(t, "the sign-in waits", func() bool { return pgtest.Waiting(t, url) == 1 })
	if _, err := holder.Exec(t.Context(), `INSERT INTO public.tenants (slug, status, schema_version, cancelled_at) VALUES ('acme', 'cancelled', 0, now()); COMMIT`); err != nil {
		t.Fatal(err)
	}
	if err := <-made; !errors.Is(err, tenancy.ErrTenantCancelled) {
		t.Errorf("%v, want ErrTenantCancelled", err)
	}
	tenant, err := db.Tenant(t.Context(), slug(t, "acme"))
	if err != nil || tenant.Status != tenancy.Cancelled || tenant.SchemaVersion != 0 {
		t.Errorf("the tenant is %+v, %v", tenant, err)
	}
}

// With MIGRATE_ON_START=false the migrations are a deployment's own step: using a
// tenant runs none.
func TestEnsureReady_MigratesOnlyWhereItMay(t *testing.T) {
	t.Parallel()
	for _, may := range []bool{false, true} {
		url, _ := fleetOf(t, 1, versionTwo)
		db := open(t, tenancy.Options{URL: url, Tenant: versionTwo, MigrateOnUse: may})
		if err := db.EnsureReady(t.Context(), slug(t, "t000")); err != nil {
			t.Fatal(err)
		}
		want := int64(1)
		if may {
			want = 2
		}
		if got := pgtest.Query[int64](t, url, `SELECT schema_version FROM public.tenants`); got != want {
			t.Errorf("MigrateOnUse %v: at version %d, want %d", may, got, want)
		}
	}
}
