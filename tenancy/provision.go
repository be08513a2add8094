package tenancy

import (
	"context"
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
	return db.transact(ctx, beginLocked(slug), func(tx pgx.Tx) error {
		return db.provision(ctx, tx, slug)
	})
}

// provision is Provision in a transaction that holds the tenant's lock. Its
// search_path is the tenant's afterwards.
func (db *DB) provision(ctx context.Context, tx pgx.Tx, slug Slug) error {
	err := db.migrateTenant(ctx, &txDriver{tx: tx, slug: slug, create: true}, `
		INSERT INTO public.tenants (slug, status, schema_version, db_role) VALUES ('%[1]s', 'active', %[2]d, %[3]s)
		ON CONFLICT (slug) DO UPDATE SET status = 'active', cancelled_at = NULL,
			schema_version = %[2]d, db_role = %[3]s, migrate_error = NULL, updated_at = now()
		WHERE tenants.purging_since IS NULL`)
	if err != nil || db.options.OnProvision == nil {
		return err
	}
	if err := db.options.OnProvision(ctx, tx, slug); err != nil {
		return fmt.Errorf("tenant %s: OnProvision: %w", slug, err)
	}
	return nil
}

// provisionUnlessCancelled is Provision for one who has not the platform's word
// that a subscription was created.
func (db *DB) provisionUnlessCancelled(ctx context.Context, slug Slug) error {
	return db.transact(ctx, beginLocked(slug), func(tx pgx.Tx) error {
		var cancelled bool
		err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM public.tenants WHERE slug = $1 AND status = $2)`,
			slug.s, Cancelled).Scan(&cancelled)
		if err != nil {
			return err
		}
		if cancelled {
			return ErrTenantCancelled
		}
		return db.provision(ctx, tx, slug)
	})
}

// upgrade brings the schema of a tenant that is registered to this program's
// version, whatever its status.
func (db *DB) upgrade(ctx context.Context, slug Slug) error {
	return db.transact(ctx, beginLocked(slug), func(tx pgx.Tx) error {
		return db.upgradeTenant(ctx, tx, slug)
	})
}

// upgradeTenant is upgrade in a transaction that holds the tenant's lock.
func (db *DB) upgradeTenant(ctx context.Context, tx pgx.Tx, slug Slug) error {
	return db.migrateTenant(ctx, &txDriver{tx: tx, slug: slug}, `
		UPDATE public.tenants SET schema_version = %[2]d, db_role = %[3]s, migrate_error = NULL, updated_at = now()
		WHERE slug = '%[1]s'`)
}

// migrateTenant runs the files that the tenant lacks and records the outcome in
// both places, the schema and the registry, in one message. register is a
// format of the slug, which is safe inside quotes, the version, and the role as
// a literal; it must touch the tenant's row, unless the tenant is being purged.
func (db *DB) migrateTenant(ctx context.Context, d *txDriver, register string) error {
	citus, err := db.onCitus(ctx, d.tx)
	if err != nil {
		return err
	}
	d.ctx, d.migrations, d.citus = ctx, db.tenant, citus
	if err := db.tenant.up(d); err != nil {
		return fmt.Errorf("tenant %s: %w", d.slug, err)
	}
	if d.version > db.tenant.latest {
		db.log.WarnContext(ctx, "the tenant's schema is newer than this program",
			"tenant", d.slug.String(), "version", d.version, "newest_known", db.tenant.latest)
	}
	role, err := db.makeRole(d)
	if err != nil {
		return fmt.Errorf("tenant %s: role: %w", d.slug, err)
	}
	record := d.versionRow() + ";" + fmt.Sprintf(register, d.slug.s, d.version, role)
	registered, err := d.tx.Exec(ctx, record)
	if err != nil {
		return fmt.Errorf("tenant %s: record version: %w", d.slug, err)
	}
	if registered.RowsAffected() == 0 {
		return fmt.Errorf("tenant %s: %w", d.slug, ErrPurging)
	}
	return nil
}

// MigrateShared brings the public schema to this program's version. Replicas
// that start together wait for each other.
func (db *DB) MigrateShared(ctx context.Context) error {
	return db.transact(ctx, beginLocked(Slug{}), func(tx pgx.Tx) error {
		d := &txDriver{ctx: ctx, tx: tx, migrations: db.shared}
		if err := db.shared.up(d); err != nil {
			return fmt.Errorf("shared schema: %w", err)
		}
		_, err := tx.Exec(ctx, d.versionRow())
		return err
	})
}
