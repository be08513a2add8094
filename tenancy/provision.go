package tenancy

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Provision makes the tenant usable (contract, tenant schema rules 1 to 3): its
// schema exists, is at this program's version, and the registry has it as
// active. It is one transaction: on an error nothing of it has happened.
// It does nothing to a tenant that is ready, and brings a cancelled one back
// with its data. It returns a *MigrationError when a file of schema/tenant
// fails, and ErrPurging. A schema that is newer than this program is left as it
// is.
func (db *DB) Provision(ctx context.Context, slug Slug) error {
	return db.command(ctx, slug, AuditProvision, func(tx pgx.Tx) (recorded bool, err error) {
		return db.provision(ctx, tx, slug, onlyChanges)
	})
}

// provision is Provision in a transaction that holds the tenant's lock. Its
// search_path is the tenant's afterwards. It reports whether it is recorded.
func (db *DB) provision(ctx context.Context, tx pgx.Tx, slug Slug, record bool) (recorded bool, err error) {
	if ready, recorded, err := db.reactivate(ctx, tx, slug, record); ready || err != nil {
		return recorded, err
	}
	isNew, err := db.migrateTenant(ctx, &txDriver{tx: tx, slug: slug, create: true}, auditSQL(ctx, AuditProvision, slug, "")+`;
		INSERT INTO public.tenants (slug, status, schema_version) VALUES ('%[1]s', 'active', %[2]d)
		ON CONFLICT (slug) DO UPDATE SET status = 'active', cancelled_at = NULL,
			schema_version = %[2]d, migrate_error = NULL, updated_at = now()
		WHERE tenants.purging_since IS NULL
		RETURNING xmax = 0`)
	if err != nil || !isNew || db.options.OnProvision == nil {
		return true, err
	}
	ctx = WithTenant(ctx, Tenant{Slug: slug, Status: Active, SchemaVersion: db.tenant.latest})
	if err := db.options.OnProvision(ctx, tx, slug); err != nil {
		return true, fmt.Errorf("tenant %s: OnProvision: %w", slug, err)
	}
	return true, nil
}

// reactivate is provision for a tenant whose schema needs nothing: one
// statement. It reports whether that was so, and whether it is recorded.
func (db *DB) reactivate(ctx context.Context, tx pgx.Tx, slug Slug, record bool) (ready, recorded bool, err error) {
	err = tx.QueryRow(ctx, `
		WITH before AS (
			SELECT $6 OR status <> 'active' AS record FROM public.tenants WHERE slug = $1
		), ready AS (
			UPDATE public.tenants SET status = 'active', cancelled_at = NULL, migrate_error = NULL, updated_at = now()
			WHERE slug = $1 AND schema_version >= $2 AND purging_since IS NULL AND to_regnamespace($3) IS NOT NULL
				AND set_config('search_path', $3 || ', public, pg_temp', true) <> '' RETURNING slug
		), recorded AS (
			INSERT INTO public.audit_log (actor, action, tenant_slug) SELECT $4, $5, slug FROM ready, before WHERE record
		)
		SELECT record FROM ready, before`,
		slug.s, db.tenant.latest, slug.ident(), Actor(ctx), AuditProvision, record).Scan(&recorded)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("tenant %s: %w", slug, err)
	}
	return true, recorded, nil
}

// provisionUnlessCancelled is Provision for one who has not the platform's word
// that a subscription was created.
func (db *DB) provisionUnlessCancelled(ctx context.Context, slug Slug) error {
	return db.change(ctx, slug, AuditProvision, "at sign-in", func(tx pgx.Tx) (recorded bool, err error) {
		var cancelled bool
		err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM public.tenants WHERE slug = $1 AND status = $2)`,
			slug.s, Cancelled).Scan(&cancelled)
		if err != nil {
			return false, err
		}
		if cancelled {
			return false, ErrTenantCancelled
		}
		return db.provision(ctx, tx, slug, onlyChanges)
	})
}

// upgrade brings the schema of a tenant that is registered to this program's
// version, whatever its status.
func (db *DB) upgrade(ctx context.Context, slug Slug) error {
	return db.transact(ctx, beginLocked(slug), func(tx pgx.Tx) error {
		_, err := db.upgradeTenant(ctx, tx, slug)
		return err
	})
}

// upgradeTenant is upgrade in a transaction that holds the tenant's lock. It
// reports whether the tenant was behind.
func (db *DB) upgradeTenant(ctx context.Context, tx pgx.Tx, slug Slug) (wasBehind bool, err error) {
	return db.migrateTenant(ctx, &txDriver{tx: tx, slug: slug}, `
		UPDATE public.tenants t SET schema_version = %[2]d, migrate_error = NULL, updated_at = now()
		FROM (SELECT slug, schema_version FROM public.tenants WHERE slug = '%[1]s' FOR NO KEY UPDATE) before
		WHERE t.slug = before.slug RETURNING before.schema_version < %[2]d`)
}

// migrateTenant runs the files that the tenant lacks and records the outcome in
// both places, the schema and the registry, in one message. register is a
// format of the slug, which is safe inside quotes, and of the version; it
// touches the tenant's row, unless the tenant is being purged, and returns
// whether that made a difference, which migrateTenant returns.
func (db *DB) migrateTenant(ctx context.Context, d *txDriver, register string) (difference bool, err error) {
	d.ctx, d.migrations = ctx, db.tenant
	if d.citus, err = db.onCitus(ctx, d.tx); err != nil {
		return false, err
	}
	if err := db.tenant.up(d); err != nil {
		return false, fmt.Errorf("tenant %s: %w", d.slug, err)
	}
	if d.version > db.tenant.latest {
		db.log.WarnContext(ctx, "the tenant's schema is newer than this program",
			"tenant", d.slug.String(), "version", d.version, "newest_known", db.tenant.latest)
	}
	record := d.versionRow() + ";" + fmt.Sprintf(register, d.slug.s, d.version)
	results, err := d.tx.Conn().PgConn().Exec(ctx, record).ReadAll()
	if err != nil {
		return false, fmt.Errorf("tenant %s: record version: %w", d.slug, err)
	}
	registered := results[len(results)-1].Rows
	if len(registered) == 0 {
		return false, fmt.Errorf("tenant %s: %w", d.slug, ErrPurging)
	}
	return string(registered[0][0]) == "t", nil
}
