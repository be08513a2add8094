package tenancy_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// The plan of a sign-in is as old as the platform's answer, however long it waits
// for a connection.
func TestSignedIn_APlanThatCameWhileItWaitedStays(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things, MaxConns: 1})
	acme := provision(t, db, "acme")
	noted := make(chan error, 1)
	err := db.InTx(acme, func(tx pgx.Tx) error { // on the only connection
		asked := time.Now()
		go func() { noted <- db.SignedIn(t.Context(), slug(t, "acme"), "Pro", asked) }()
		await(t, "it waits for a connection", func() bool { return db.RequestsWaiting() == 1 })
		pgtest.Exec(t, url, `UPDATE public.tenants SET plan_type = 'Team', plan_as_of = clock_timestamp()`)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-noted; err != nil {
		t.Fatal(err)
	}
	if plan := pgtest.Query[string](t, url, `SELECT plan_type FROM public.tenants`); plan != "Team" {
		t.Errorf("%s, want the event's", plan)
	}
}
