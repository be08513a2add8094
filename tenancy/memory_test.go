package tenancy_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// backend returns which backend serves the tenant.
func backend(t testing.TB, ctx context.Context, db *tenancy.DB) (pid int64) {
	t.Helper()
	err := db.InTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO things (owner) VALUES ($1)`, "x"); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid)
	})
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// A backend remembers what it has met of tenants: past its budget the
// connection is replaced.
func TestMemory_AConnectionIsReplacedWhenItsBudgetIsSpent(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things, MaxConns: 1, ConnMemory: 1 << 20})
	pids := map[int64]bool{}
	for i := range 80 {
		ctx := provision(t, db, "t"+strconv.Itoa(i))
		for range 3 { // the same tenant again does not count
			pids[backend(t, ctx, db)] = true
		}
	}
	if len(pids) < 2 || len(pids) > 12 { // 16 KiB a table: some 60 tenants of one, fewer until that is counted
		t.Errorf("%d backends for 80 tenants and 1 MiB", len(pids))
	}
}

// The curve of a backend's memory over 10,000 tenants of five tables, free and
// bounded: go test -run xxx -bench BackendMemory -benchtime 1x ./tenancy
func BenchmarkBackendMemory(b *testing.B) {
	for name, budget := range map[string]int{"free": 1 << 40, "bounded": 0} {
		b.Run(name, func(b *testing.B) {
			n := 10 * tenantsToBench()
			url := durable(b)
			db := open(b, tenancy.Options{URL: url, Tenant: fiveFiles, MaxConns: 4})
			fill(b, db, n, 4)
			one := open(b, tenancy.Options{URL: url, Tenant: fiveFiles, MaxConns: 1, ConnMemory: budget})
			for b.Loop() {
				var most int64
				for i := range n {
					ctx := tenancy.WithTenant(b.Context(), tenancy.Tenant{Slug: slug(b, "t"+strconv.Itoa(i)), Status: tenancy.Active, SchemaVersion: 5})
					most = max(most, fiveTables(b, ctx, one))
					if i+1 == n/10 || i+1 == n/2 || i+1 == n {
						b.ReportMetric(float64(most)/(1<<20), fmt.Sprintf("MiB@%d", i+1))
					}
				}
			}
		})
	}
}

// fiveTables reads every table of the tenant and returns the backend's memory.
func fiveTables(b *testing.B, ctx context.Context, db *tenancy.DB) (bytes int64) {
	b.Helper()
	for _, table := range []string{"customers", "orders", "lines", "notes", "tags"} {
		if _, err := db.Exec(ctx, `SELECT id, name FROM `+table+` ORDER BY id LIMIT 10`); err != nil {
			b.Fatal(err)
		}
	}
	if err := db.QueryRow(ctx, `SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts`).Scan(&bytes); err != nil {
		b.Fatal(err)
	}
	return bytes
}
