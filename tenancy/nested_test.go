package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// nestings are the ways to hold one connection and ask for a second.
var nestings = map[string]func(ctx context.Context, db *tenancy.DB, between func(context.Context)) error{
	"InTx{InShared}": func(ctx context.Context, db *tenancy.DB, between func(context.Context)) error {
		return db.InTx(ctx, selects(ctx, func() error { between(ctx); return db.InShared(ctx, selects(ctx, nil)) }))
	},
	"InShared{InTx}": func(ctx context.Context, db *tenancy.DB, between func(context.Context)) error {
		return db.InShared(ctx, selects(ctx, func() error { between(ctx); return db.InTx(ctx, selects(ctx, nil)) }))
	},
	"InTx{EachTenant{InTx}}": func(ctx context.Context, db *tenancy.DB, between func(context.Context)) error {
		return db.InTx(ctx, selects(ctx, func() error {
			between(ctx)
			return db.EachTenant(ctx, func(ctx context.Context) error { return db.InTx(ctx, selects(ctx, nil)) })
		}))
	},
	"rows{Exec}": func(ctx context.Context, db *tenancy.DB, between func(context.Context)) error {
		rows, err := db.Query(ctx, `SELECT 1`)
		if err != nil {
			return err
		}
		defer rows.Close()
		between(ctx)
		_, err = db.Exec(ctx, `SELECT 2`)
		return errors.Join(err, rows.Err())
	},
}

// selects sends a statement, then runs what is within the transaction.
func selects(ctx context.Context, within func() error) func(pgx.Tx) error {
	return func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SELECT count(*) FROM public.tenants`)
		if err != nil || within == nil {
			return err
		}
		return within()
	}
}

// Requests that hold a connection and ask for a second finish, also where there
// are more of them than connections, and all have their first at once.
func TestInTx_WithinAnotherWaitsForNoneOfItsKind(t *testing.T) {
	t.Parallel()
	for name, nesting := range nestings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const conns = 6
			db := open(t, tenancy.Options{Tenant: things, MaxConns: 2, Requests: conns})
			var tenants []context.Context
			for i := range 4 {
				tenants = append(tenants, provision(t, db, fmt.Sprint("t", i)))
			}
			inside, full := atomic.Int32{}, make(chan struct{})
			together := func(ctx context.Context) {
				if inside.Add(1) == conns {
					close(full)
				}
				select {
				case <-full:
				case <-ctx.Done():
				}
			}
			work, end := context.WithCancel(t.Context())
			slowest := reading(work, t, db, provision(t, db, "reader"))
			busy(t, tenants, func(ctx context.Context) error { return nesting(ctx, db, together) })
			end()
			if took := <-slowest; took > 5*time.Second {
				t.Errorf("another tenant's read took %v", took)
			}
		})
	}
}

// busy has four clients of each tenant send a few requests each.
func busy(t *testing.T, tenants []context.Context, request func(context.Context) error) {
	var clients sync.WaitGroup
	for i := range 4 * len(tenants) {
		clients.Go(func() {
			for range 3 {
				ctx, cancel := context.WithTimeout(tenants[i%len(tenants)], 10*time.Second)
				ctx, _ = tenancy.WithUsage(ctx, "of the test")
				err := request(ctx)
				cancel()
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
}

// reading reads in the tenant's name until work ends, and says how long the
// slowest has taken.
func reading(work context.Context, t *testing.T, db *tenancy.DB, ctx context.Context) chan time.Duration {
	slowest := make(chan time.Duration, 1)
	go func() {
		var took time.Duration
		for work.Err() == nil {
			began := time.Now()
			if err := db.QueryRow(ctx, `SELECT count(*) FROM things`).Scan(new(int)); err != nil {
				t.Error(err)
			}
			took = max(took, time.Since(began))
		}
		slowest <- took
	}()
	return slowest
}
