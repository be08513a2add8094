package tenancy

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// applyOnTenant runs the handler on the tenant's schema as a request would find
// it: at this program's version, and under the tenant's role if it has one.
func (in *Inbox) applyOnTenant(ctx context.Context, tx pgx.Tx, handler EventHandler, e Event) error {
	if handler.NewTenant {
		if err := handler.Apply(ctx, tx, e); err != nil {
			return err
		}
		return wake(ctx, tx, e)
	}
	role, err := in.db.enter(ctx, tx, e.Tenant)
	if err != nil {
		return err
	}
	if err := handler.Apply(ctx, tx, e); err != nil || role == "" {
		return err
	}
	_, err = tx.Exec(ctx, `RESET ROLE`)
	return err
}

// wake makes those events due that failed for want of the tenant which e may
// have made.
func wake(ctx context.Context, tx pgx.Tx, e Event) error {
	_, err := tx.Exec(ctx, `
		UPDATE public.webhook_events SET next_attempt_at = now()
		WHERE tenant_slug = $1 AND status = 'pending' AND id <> $2 AND started_at IS NULL`, e.Tenant.s, e.ID)
	return err
}

// enter points a transaction that holds the tenant's lock at its data, and
// returns the role that it has taken on; empty for none. It returns
// ErrUnknownTenant or ErrSchemaMissing. A cancelled tenant's data is there too.
func (db *DB) enter(ctx context.Context, tx pgx.Tx, slug Slug) (role string, err error) {
	t := Tenant{Slug: slug}
	err = tx.QueryRow(ctx, `SELECT schema_version, coalesce(db_role, '') FROM public.tenants WHERE slug = $1`, slug.s).
		Scan(&t.SchemaVersion, &t.Role)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("%s: %w", slug, ErrUnknownTenant)
	}
	if err == nil && t.SchemaVersion < db.tenant.latest && db.options.MigrateOnUse {
		err = db.upgradeTenant(ctx, tx, slug)
	}
	if err != nil {
		return "", err
	}
	if !db.options.TenantRoles {
		t.Role = ""
	}
	_, err = tx.Exec(ctx, lookInto(slug)+db.takeRole(t))
	if sqlState(err) == codeMissingSchema {
		return "", fmt.Errorf("%s: %w", slug, ErrSchemaMissing)
	}
	return t.Role, err
}
