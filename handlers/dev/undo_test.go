//go:build !production

package dev_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"example.com/subproduct/handlers/dev"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// tells is called with the database's address when `dev` has printed it.
type tells func(url string)

func (f tells) Write(b []byte) (int, error) {
	if _, rest, ok := strings.Cut(string(b), "psql '"); ok {
		url, _, _ := strings.Cut(rest, "'")
		f(url)
	}
	return len(b), nil
}

// await runs `dev` with these migrations until a query on its database is true.
func await(t *testing.T, data, query string, tenant fstest.MapFS, args ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out := tells(func(url string) {
		for ctx.Err() == nil && !pgtest.Query[bool](t, url, query) {
			time.Sleep(50 * time.Millisecond)
		}
		if ctx.Err() != nil {
			t.Errorf("it did not come to: %s", query)
		}
		cancel()
	})
	args = append(args, "--data", data, "--app-addr", "127.0.0.1:0", "--platform-addr", "127.0.0.1:0")
	return dev.Run(ctx, server.Product{Name: "Undo", Slug: "undo", TenantSchema: tenant}, args, func(string) (string, bool) { return "", false }, out)
}

// A migration that failed for one tenant and ran for another can be mended: undone
// where it ran, it runs as it is now for both, and what there was is still there.
func TestUndo_AMigrationThatFailedForOneTenantAlone(t *testing.T) {
	t.Parallel()
	data := pgtest.Dir(t)
	at := func(second string) fstest.MapFS {
		return fstest.MapFS{
			"000001_a.up.sql": {Data: []byte("CREATE TABLE a AS SELECT current_schema() AS of")},
			"000002_b.up.sql": {Data: []byte(second)}, "000002_b.down.sql": {Data: []byte("DROP TABLE b")},
		}
	}
	fails, mended := at("CREATE TABLE b (x int); SELECT 1 / (current_schema() <> 'tenant_acme')::int"), at("CREATE TABLE b (x bigint)")
	const one = `SELECT count(*) FILTER (WHERE schema_version = 2) = 1 AND count(migrate_error) = 1 FROM tenants`
	const both = `SELECT count(*) FILTER (WHERE schema_version = 2) = 2 AND (SELECT count(*) = 2 FROM information_schema.columns
		WHERE table_name = 'b' AND data_type = 'bigint') AND (SELECT of = 'tenant_acme' FROM tenant_acme.a) FROM tenants`
	if err := await(t, data, `SELECT count(*) = 2 FROM tenants`, fstest.MapFS{"000001_a.up.sql": fails["000001_a.up.sql"]}); err != nil {
		t.Fatal(err)
	}
	if err := await(t, data, one, fails); err != nil {
		t.Fatal(err)
	}
	if err := await(t, data, one, mended); err == nil || !strings.Contains(err.Error(), "dev --undo") {
		t.Errorf("it says nothing of a way out: %v", err)
	}
	noDown := fstest.MapFS{"000001_a.up.sql": mended["000001_a.up.sql"], "000002_b.up.sql": mended["000002_b.up.sql"]}
	if err := await(t, data, one, noDown, "--undo"); err == nil || !strings.Contains(err.Error(), "down.sql is not there") {
		t.Errorf("without a down file: %v", err)
	}
	if err := await(t, data, both, mended, "--undo"); err != nil {
		t.Error(err)
	}
}
