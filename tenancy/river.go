package tenancy

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// River returns the driver of riverqueue/river on the connections of s, for the
// package jobs alone.
func (s *System) River() riverdriver.Driver[pgx.Tx] { return riverpgxv5.New(s.pool) }

type poolKey struct{}

// OnOwnConns returns a context in which the data calls, InTx for example, use the
// connections of s in place of the requests'.
func (s *System) OnOwnConns(ctx context.Context) context.Context {
	return context.WithValue(ctx, poolKey{}, s.pool)
}

// poolFor is the pool that ctx's data calls use.
func (db *DB) poolFor(ctx context.Context) *pgxpool.Pool {
	if own, ok := ctx.Value(poolKey{}).(*pgxpool.Pool); ok {
		return own
	}
	return db.pool
}
