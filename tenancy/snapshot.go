package tenancy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// beginSnapshot opens a transaction that waits for as long as pg_dump takes.
const beginSnapshot = `BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '` + lockTimeout + `'`

// snapshot reads the tenant in tx, and names tx's snapshot for pg_dump. To a
// snapshot from before a migration that rewrites a table, that table is empty
// afterwards: so tx locks the tables first, while the tenant's lock keeps every
// migration away.
func (db *DB) snapshot(ctx context.Context, tx pgx.Tx, slug Slug) (t Tenant, name string, err error) {
	err = db.transact(ctx, beginLocked(slug), func(locked pgx.Tx) error {
		rows, _ := locked.Query(ctx, `
			SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')`, slug.Schema())
		tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err == nil && len(tables) > 0 {
			_, err = tx.Exec(ctx, `LOCK TABLE `+strings.Join(tables, ", ")+` IN ACCESS SHARE MODE`)
		}
		if err == nil {
			t, name, err = readExported(ctx, tx, slug)
		}
		return err
	})
	if IsLockTimeout(err) {
		err = fmt.Errorf("somebody changes its tables: run it again (%w)", ErrBusy)
	}
	return t, name, err
}

// readExported reads the tenant, and names the transaction's snapshot for pg_dump.
func readExported(ctx context.Context, tx pgx.Tx, slug Slug) (t Tenant, snapshot string, err error) {
	err = tx.QueryRow(ctx, `SELECT `+tenantColumns+`, pg_export_snapshot() FROM public.tenants WHERE slug = $1`, slug.s).
		Scan(append(t.targets(), &snapshot)...)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		err = ErrUnknownTenant
	case err == nil && t.PurgingSince != nil:
		err = ErrPurging
	}
	return t, snapshot, err
}
