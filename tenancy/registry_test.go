package tenancy_test

import (
	"testing"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// The list says how much each tenant stores, and counts nobody else's for it.
func TestTenants_TheSizeIsOfTheTenantsOwnSchema(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, tenancy.Options{URL: url, Tenant: files("000001_things.up.sql", "CREATE TABLE things (owner text NOT NULL); CREATE INDEX ON things (owner)")})
	for _, name := range []string{"acme", "acme_2", "empty", "lost"} {
		provision(t, db, name)
	}
	pgtest.Exec(t, url, `INSERT INTO tenant_acme.things SELECT md5(n::text) FROM generate_series(1, 20000) n`) // with the index over 2 MB
	pgtest.Exec(t, url, `DROP INDEX tenant_acme_2.things_owner_idx; ALTER TABLE tenant_acme_2.things ALTER owner SET STORAGE EXTERNAL;
		INSERT INTO tenant_acme_2.things VALUES (repeat('x', 3000000)); DROP SCHEMA tenant_lost CASCADE`) // out of line
	sizes := map[string]int64{}
	all, err := db.Tenants(t.Context(), tenancy.Slug{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range all {
		sizes[tenant.Slug.String()] = tenant.SizeBytes
	}
	const mb = 1 << 20
	if acme, two, empty, lost := sizes["acme"], sizes["acme_2"], sizes["empty"], sizes["lost"]; len(all) != 4 ||
		acme < 2*mb || acme > 4*mb || two < 3*mb*9/10 || empty == 0 || empty > mb/10 || lost != 0 {
		t.Errorf("the sizes are %v", sizes)
	}
	for name, want := range sizes {
		if one, err := db.Tenants(t.Context(), slug(t, name)); err != nil || len(one) != 1 || one[0].Slug.String() != name || one[0].SizeBytes != want {
			t.Errorf("%s alone: %+v, %v; want %d bytes", name, one, err, want)
		}
	}
}
