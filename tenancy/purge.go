package tenancy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Errors of the ends of a tenant's life.
var (
	ErrActive  = errors.New("the tenant is active: cancel it first")
	ErrPurging = errors.New("the tenant's data is being purged")
)

// purgeBatch is how many relations one transaction drops. Each takes a handful
// of locks with its indexes and sequences, and a server has room for
// max_locks_per_transaction × max_connections, 6,400 as it comes.
const purgeBatch = 50

// Purge drops all data of a cancelled tenant, for ever: its relations in
// batches, then in one transaction the rest of the schema, the registry row and
// what hangs on it. One that was interrupted is finished by the next call;
// until then the tenant can be neither restored nor provisioned (ErrPurging).
// It returns ErrUnknownTenant or ErrActive when there is nothing that may be
// purged, and ErrBusy where somebody uses the tenant's tables.
func (db *DB) Purge(ctx context.Context, slug Slug) error {
	err := db.purge(ctx, slug)
	if IsLockTimeout(err) {
		return fmt.Errorf("purge tenant %s: somebody is using its tables: run it again (%w)", slug, ErrBusy)
	}
	return err
}

func (db *DB) purge(ctx context.Context, slug Slug) error {
	if err := db.beginPurge(ctx, slug); err != nil {
		return err
	}
	for {
		dropped, err := db.dropBatch(ctx, slug)
		if err != nil {
			return fmt.Errorf("purge tenant %s: %w", slug, err)
		}
		if dropped < purgeBatch {
			break
		}
	}
	if err := db.finishPurge(ctx, slug); err != nil {
		return fmt.Errorf("purge tenant %s: %w", slug, err)
	}
	return db.told(ctx, nil, AuditPurge, slug, purgeDone)
}

// What the audit log says of a purge, which is more than one transaction.
const (
	purgeBegun = "begun"
	purgeDone  = "done"
)

// finishPurge drops what is left of the schema, the registry row with its
// sessions, and every event and job of the tenant, for what is in them is its
// data too. The events come last: who delivers one of them again waits for this.
// One that came after the purge began is of the next tenant of that slug.
func (db *DB) finishPurge(ctx context.Context, slug Slug) error {
	return db.transact(ctx, beginLocked(slug), func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, fmt.Sprintf(`
			DROP SCHEMA IF EXISTS %[2]s CASCADE;
			DELETE FROM public.river_job WHERE metadata @> jsonb_build_object('tenant', '%[1]s');
			%[3]s;
			WITH gone AS (DELETE FROM public.tenants WHERE slug = '%[1]s' RETURNING purging_since)
			DELETE FROM public.webhook_events e USING gone WHERE e.tenant_slug = '%[1]s' AND e.received_at < gone.purging_since`, slug.s, slug.ident(), auditSQL(ctx, AuditPurge, slug, purgeDone)))
		return err
	})
}

func (db *DB) beginPurge(ctx context.Context, slug Slug) error {
	err := db.transact(ctx, beginLocked(slug), func(tx pgx.Tx) error {
		var status, extensions string
		err := tx.QueryRow(ctx, `
			SELECT status, coalesce((SELECT string_agg(extname, ', ') FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE n.nspname = $2), '')
			FROM public.tenants WHERE slug = $1`, slug.s, slug.Schema()).Scan(&status, &extensions)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("%s: %w", slug, ErrUnknownTenant)
		case err != nil:
			return err
		case status != Cancelled:
			return fmt.Errorf("%s: %w", slug, ErrActive)
		case extensions != "":
			return fmt.Errorf("%s: its schema has what all tenants use: first have an administrator move it, ALTER EXTENSION … SET SCHEMA public: %s", slug, extensions)
		}
		_, err = tx.Exec(ctx, fmt.Sprintf(`
			UPDATE public.tenants SET purging_since = coalesce(purging_since, now()), updated_at = now() WHERE slug = '%s'; %s`,
			slug.s, auditSQL(ctx, AuditPurge, slug, purgeBegun)))
		return err
	})
	return db.told(ctx, err, AuditPurge, slug, purgeBegun)
}

// dropBatch drops up to purgeBatch relations of the schema and returns how many
// it found. CASCADE may take more with them, views for example.
func (db *DB) dropBatch(ctx context.Context, slug Slug) (found int, err error) {
	err = db.transact(ctx, beginLocked(slug), func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `
			SELECT CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END
				|| ' IF EXISTS ' || quote_ident(n.nspname) || '.' || quote_ident(c.relname)
			FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
			ORDER BY c.oid DESC LIMIT $2`, slug.Schema(), purgeBatch)
		relations, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(relations) == 0 {
			return err
		}
		found = len(relations)
		_, err = tx.Exec(ctx, "DROP "+strings.Join(relations, " CASCADE; DROP ")+" CASCADE")
		return err
	})
	return found, err
}
