package tenancy_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// backend returns which backend serves the tenant, and its memory in bytes.
func backend(t testing.TB, ctx context.Context, db *tenancy.DB) (pid, bytes int64) {
	t.Helper()
	err := db.InTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO things (owner) VALUES ($1)`, "x"); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT pg_backend_pid(), sum(total_bytes)::bigint FROM pg_backend_memory_contexts`).Scan(&pid, &bytes)
	})
	if err != nil {
		t.Fatal(err)
	}
	return pid, bytes
}

func TestAConnectionIsReplacedAfterSoManyTenants(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{Tenant: things, MaxConns: 1, MaxTenantsPerConn: 10})
	pids := map[int64]int{}
	for i := range 30 {
		ctx := provision(t, db, "t"+strconv.Itoa(i))
		for range 3 { // the same tenant again does not count
			pid, _ := backend(t, ctx, db)
			pids[pid]++
		}
	}
	for pid, n := range pids {
		if n > 30 {
			t.Errorf("backend %d served %d requests; want at most 10 tenants of 3", pid, n)
		}
	}
	if len(pids) < 3 || len(pids) > 4 {
		t.Errorf("%d backends for 30 tenants, want 3 or 4", len(pids))
	}
}

// The curve of a backend's memory over the tenants that it has met, free and
// bounded.
func BenchmarkBackendMemory(b *testing.B) {
	for _, most := range []int{1 << 30, 500} {
		b.Run(fmt.Sprintf("replaced-after-%d", most), func(b *testing.B) {
			db := open(b, tenancy.Options{Tenant: things, MaxConns: 1, MaxTenantsPerConn: most})
			var tenants []context.Context
			for i := range 2000 {
				tenants = append(tenants, provision(b, db, "t"+strconv.Itoa(i)))
			}
			for b.Loop() {
				for i, ctx := range tenants {
					_, bytes := backend(b, ctx, db)
					if n := i + 1; n == 1 || n == 100 || n == 499 || n == 1000 || n == 2000 {
						b.ReportMetric(float64(bytes)/1024, fmt.Sprintf("KiB@%d", n))
					}
				}
			}
		})
	}
}
