package tenancy

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Citus distributes a tenant's schema as one shard group, when it is asked to
// in the transaction that creates the schema. It refuses a message of several
// statements when one of them is, for example, CREATE INDEX.
const shardSchema = "SET LOCAL citus.enable_schema_based_sharding TO on; "

// onCitus tells whether the database has Citus. It asks once: an extension does
// not come and go under a running program.
func (db *DB) onCitus(ctx context.Context, tx pgx.Tx) (bool, error) {
	if known := db.citus.Load(); known != nil {
		return *known, nil
	}
	var there bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`).Scan(&there)
	if err == nil {
		db.citus.Store(&there)
	}
	return there, err
}
