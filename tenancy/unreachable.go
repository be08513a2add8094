package tenancy

import (
	"context"
	"fmt"
	"strings"
)

// IsUnreachable reports whether err came from a database that is down, starting
// or full, so that trying again may help. A database that answered and refused
// is not unreachable.
func IsUnreachable(err error) bool {
	state := sqlState(err)
	switch {
	case err == nil:
		return false
	case state == "":
		return true // no answer at all
	}
	const connectionException, insufficientResources, operatorIntervention = "08", "53", "57"
	class := state[:2]
	return class == connectionException || class == insufficientResources || class == operatorIntervention ||
		strings.HasPrefix(state, codeLockTimeout)
}

// CheckShared returns an error when the shared schema is behind this program.
func (db *DB) CheckShared(ctx context.Context) error {
	var version int64
	err := db.pool.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM public.schema_migrations`).Scan(&version)
	if err != nil && sqlState(err) != codeMissingTable {
		return err
	}
	if version < db.shared.latest {
		return &BehindError{Have: version, Want: db.shared.latest}
	}
	return nil
}

// BehindError says that the shared schema must be migrated first.
type BehindError struct{ Have, Want int64 }

func (e *BehindError) Error() string {
	return fmt.Sprintf("the shared schema is at version %d and this program needs %d: run `migrate` first, or set MIGRATE_ON_START", e.Have, e.Want)
}
