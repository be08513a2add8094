package tenancy_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// Statements of transactions, of batches and of the pool are counted, and only
// in the context that counts.
func TestUsage_CountsStatements(t *testing.T) {
	t.Parallel()
	db := open(t, tenancy.Options{URL: pgtest.URL(t), Tenant: things})
	acme := provision(t, db, "acme")
	ctx, used := tenancy.WithUsage(acme, "request")
	if err := db.InTx(acme, func(pgx.Tx) error { return nil }); err != nil || used.Statements() != 0 {
		t.Fatalf("another's statements count: %d, %v", used.Statements(), err)
	}
	err := db.InTx(ctx, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(`SELECT 1`)
		batch.Queue(`SELECT pg_sleep(0.05)`)
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"things"}, []string{"owner"}, pgx.CopyFromRows([][]any{{"acme"}}))
		return err
	})
	if _, findErr := db.Tenant(ctx, slug(t, "acme")); err != nil || findErr != nil {
		t.Fatal(err, findErr)
	}
	const withBeginAndCommit = 2 + 2 + 1 + 1 + 1 // BEGIN, and what a batch stands in; the batch; COPY; COMMIT; the tenant
	if n := used.Statements(); n != withBeginAndCommit {
		t.Errorf("%d statements, want %d", n, withBeginAndCommit)
	}
	if used.Database().Milliseconds() < 50 || used.Waiting() <= 0 {
		t.Errorf("%v in the database, %v waiting", used.Database(), used.Waiting())
	}
}

// Measuring is cheap: no more than the context that a statement needs.
func TestUsage_OneAllocationAStatement(t *testing.T) {
	ctx, _ := tenancy.WithUsage(t.Context(), "request")
	if n := testing.AllocsPerRun(1000, func() { tenancy.Measure(ctx) }); n > 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}

func BenchmarkUsage(b *testing.B) {
	ctx, _ := tenancy.WithUsage(b.Context(), "request")
	b.ReportAllocs()
	for b.Loop() {
		tenancy.Measure(ctx)
	}
}
