package tenancy

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// revokePublic is what databases from before PostgreSQL 15 need: there, every
// login may create functions in public, which ours would run by a name that it
// does not qualify.
const revokePublic = `REVOKE CREATE ON SCHEMA public FROM PUBLIC`

// closePublic runs revokePublic where it is needed and our login may, and else
// logs it for an administrator.
func (db *DB) closePublic(ctx context.Context, tx pgx.Tx) error {
	var open, ours bool
	err := tx.QueryRow(ctx, `
		SELECT pg_catalog.has_schema_privilege('public', oid, 'CREATE'), pg_catalog.pg_has_role(nspowner, 'USAGE')
		FROM pg_catalog.pg_namespace WHERE nspname = 'public'`).Scan(&open, &ours)
	switch {
	case err != nil:
		return fmt.Errorf("who may create in public: %w", err)
	case open && ours:
		_, err = tx.Exec(ctx, revokePublic)
		return err
	case open:
		db.log.WarnContext(ctx, "every login of this database may plant functions in the schema public, which this program's login then runs; have an administrator revoke that",
			"statement", revokePublic)
	}
	return nil
}
