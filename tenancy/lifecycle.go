package tenancy

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Cancel ends a tenant's access at once: every session of it is gone, on every
// replica, with the commit. Its data stays. It returns ErrUnknownTenant.
func (db *DB) Cancel(ctx context.Context, slug Slug) error {
	return db.transact(ctx, beginLocked(slug), func(tx pgx.Tx) error {
		return cancelTenant(ctx, tx, slug)
	})
}

// Restore brings a cancelled tenant back with its data, at this program's
// version. It does nothing to an active one, and returns ErrUnknownTenant or
// ErrPurging.
func (db *DB) Restore(ctx context.Context, slug Slug) error {
	return db.transact(ctx, beginLocked(slug), func(tx pgx.Tx) error {
		if err := notPurging(ctx, tx, slug); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			UPDATE public.tenants SET status = $2, cancelled_at = NULL, updated_at = now()
			WHERE slug = $1 AND status = $3`, slug.s, Active, Cancelled)
		if err != nil {
			return fmt.Errorf("restore tenant %s: %w", slug, err)
		}
		if tag.RowsAffected() == 0 {
			_, err := db.Tenant(ctx, slug)
			return err
		}
		return db.upgradeTenant(ctx, tx, slug)
	})
}

// cancelTenant is Cancel in a transaction that holds the tenant's lock.
func cancelTenant(ctx context.Context, tx pgx.Tx, slug Slug) error {
	tag, err := tx.Exec(ctx, `
		UPDATE public.tenants
		SET status = $2, cancelled_at = coalesce(cancelled_at, now()), updated_at = now()
		WHERE slug = $1`, slug.s, Cancelled)
	if err != nil {
		return fmt.Errorf("cancel tenant %s: %w", slug, err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("cancel tenant %s: %w", slug, ErrUnknownTenant)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM public.sessions WHERE tenant_slug = $1`, slug.s); err != nil {
		return fmt.Errorf("cancel tenant %s: end sessions: %w", slug, err)
	}
	return nil
}

// OnSubscriptionCreated provisions the event's tenant (contract, section 6).
func (db *DB) OnSubscriptionCreated(ctx context.Context, tx pgx.Tx, e Event) error {
	return db.provision(ctx, tx, e.Tenant)
}

// OnTenantCancelled cancels the event's tenant (contract, section 6). There is
// nothing to do for a tenant that never came to be.
func (db *DB) OnTenantCancelled(ctx context.Context, tx pgx.Tx, e Event) error {
	err := cancelTenant(ctx, tx, e.Tenant)
	if errors.Is(err, ErrUnknownTenant) {
		db.log.WarnContext(ctx, "cancellation of a tenant that is not here", "tenant", e.Tenant.String())
		return nil
	}
	return err
}
