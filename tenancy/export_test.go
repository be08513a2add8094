package tenancy

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// SearchPath is what a pooled connection looks names up in outside of InTx.
func SearchPath(ctx context.Context, db *DB) (path string) {
	if err := db.pool.QueryRow(ctx, `SHOW search_path`).Scan(&path); err != nil {
		return err.Error()
	}
	return path
}

var SplitSQL = splitSQL

// ReferenceSlug names what tenants are compared with.
var ReferenceSlug = referenceSlug.s

// LibpqEnv is the environment that an export's pg_dump gets.
func LibpqEnv(db *DB) []string { return db.libpqEnv() }

// Dial connects as to a database.
var Dial = dial()

// Measure is what measuring adds to one statement.
func Measure(ctx context.Context) {
	t := &tracer{&DB{}}
	t.TraceQueryEnd(t.TraceQueryStart(ctx, nil, pgx.TraceQueryStartData{SQL: "SELECT 1"}), nil, pgx.TraceQueryEndData{})
}

// LookupsWaiting is how many sessions are asked for and in no statement yet.
func (db *DB) LookupsWaiting() int { return db.lookups.Waiting() }

// MigrateQuietly is one run of MigrateInBackground.
func (db *DB) MigrateQuietly(ctx context.Context) (failed int, err error) {
	return db.migrateQuietly(ctx)
}

// RequestsWaiting is how many wait for a connection of the lanes.
func (db *DB) RequestsWaiting() int { return db.lanes.Waiting() }

// TablesCounted reports whether it is known how many tables a tenant has.
func (db *DB) TablesCounted() bool { return db.tablesSeen.Load() > 0 }
