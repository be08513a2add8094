package tenancy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// Somebody who reads a table holds up a purge, which says what to do; then it is
// finished by the next one.
func TestPurge_WhileSomebodyUsesATable(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things})
	provision(t, db, "acme")
	if err := db.Cancel(t.Context(), slug(t, "acme")); err != nil {
		t.Fatal(err)
	}
	reader, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close(t.Context())
	if _, err := reader.Exec(t.Context(), `BEGIN; SELECT count(*) FROM tenant_acme.things`); err != nil {
		t.Fatal(err)
	}
	err = db.Purge(t.Context(), slug(t, "acme"))
	if !errors.Is(err, tenancy.ErrBusy) || !strings.Contains(err.Error(), "somebody is using its tables: run it again") || strings.Contains(err.Error(), "55P03") {
		t.Errorf("%v, want to be told that it is in use and what to do", err)
	}
	if _, err := reader.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	if err := db.Purge(t.Context(), slug(t, "acme")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// An extension that has come into a tenant's schema all the same is what others
// use: it does not go with the tenant.
func TestPurge_LeavesAnExtensionToTheOthers(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: things})
	provision(t, db, "acme")
	pgtest.Exec(t, url, `CREATE EXTENSION btree_gist SCHEMA tenant_acme`)
	if err := db.Cancel(t.Context(), slug(t, "acme")); err != nil {
		t.Fatal(err)
	}
	if err := db.Purge(t.Context(), slug(t, "acme")); err == nil || !strings.Contains(err.Error(), "btree_gist") {
		t.Errorf("%v, want to be told what to move", err)
	}
	pgtest.Exec(t, url, `DROP EXTENSION btree_gist`)
	if err := db.Purge(t.Context(), slug(t, "acme")); err != nil {
		t.Error(err)
	}
}
