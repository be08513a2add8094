package tenancy

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Cancel ends a tenant's access at once: every session of it is gone, on every
// replica, with the commit. Its data stays. It is the operator's word: older
// lifecycle events that are not finished are void. It returns ErrUnknownTenant.
func (db *DB) Cancel(ctx context.Context, slug Slug) error {
	return db.command(ctx, slug, AuditCancel, func(tx pgx.Tx) (recorded bool, err error) {
		return cancelTenant(ctx, tx, slug, onlyChanges)
	})
}

// Restore brings a cancelled tenant back with its data, at this program's
// version. It does nothing to an active one, and returns ErrUnknownTenant or
// ErrPurging.
func (db *DB) Restore(ctx context.Context, slug Slug) error {
	return db.command(ctx, slug, AuditRestore, func(tx pgx.Tx) (recorded bool, err error) {
		tag, err := tx.Exec(ctx, `
			WITH restored AS (
				UPDATE public.tenants SET status = 'active', cancelled_at = NULL, updated_at = now()
				WHERE slug = $1 AND status = 'cancelled' AND purging_since IS NULL RETURNING slug)
			INSERT INTO public.audit_log (actor, action, tenant_slug) SELECT $2, $3, slug FROM restored`,
			slug.s, Actor(ctx), AuditRestore)
		if err != nil {
			return false, fmt.Errorf("restore tenant %s: %w", slug, err)
		}
		if tag.RowsAffected() == 0 {
			t, err := db.Tenant(ctx, slug)
			if t.PurgingSince != nil {
				err = fmt.Errorf("%s: %w", slug, ErrPurging)
			}
			return false, err
		}
		_, err = db.upgradeTenant(ctx, tx, slug)
		return true, err
	})
}

// command runs an operator's change of a tenant's state under its lock, and
// makes it the latest word about the tenant.
func (db *DB) command(ctx context.Context, slug Slug, action string, change func(tx pgx.Tx) (recorded bool, err error)) error {
	return db.change(ctx, slug, action, "", func(tx pgx.Tx) (recorded bool, err error) {
		if recorded, err = change(tx); err == nil {
			_, err = tx.Exec(ctx, commanded(slug))
		}
		return recorded, err
	})
}

// change runs a change of a tenant's state under its lock. Where that reports that
// it has recorded the action, the action is logged once it is committed.
func (db *DB) change(ctx context.Context, slug Slug, action, detail string, change func(tx pgx.Tx) (recorded bool, err error)) error {
	recorded := false
	err := db.transact(ctx, beginLocked(slug), func(tx pgx.Tx) (err error) {
		recorded, err = change(tx)
		return err
	})
	if !recorded {
		return err
	}
	return db.told(ctx, err, action, slug, detail)
}

// commanded is SQL that makes what the transaction does the latest word about
// the tenant.
func commanded(slug Slug) string {
	return fmt.Sprintf(`
		UPDATE public.tenants SET commanded_at = clock_timestamp() WHERE slug = '%s';
		UPDATE public.webhook_events SET status = 'done', last_error = 'void: superseded by an operator''s command',
			claimed_by = NULL, processed_at = clock_timestamp()
		WHERE tenant_slug = '%[1]s' AND lifecycle AND status = 'pending'`, slug.s)
}

// What is recorded of a tenant's change: an operator's, and a sign-in's, where it
// made a difference; the platform's whenever it has an event say so.
const (
	onlyChanges = false
	everyWord   = true
)

// cancelTenant is Cancel in a transaction that holds the tenant's lock. It reports
// whether it is recorded. The sessions are ended by a statement of its own, in the
// same message: it sees those of sign-ins that held the tenant's row until now.
func cancelTenant(ctx context.Context, tx pgx.Tx, slug Slug, record bool) (recorded bool, err error) {
	batch := &pgx.Batch{}
	batch.Queue(`
		WITH before AS (
			SELECT slug, $4 OR status <> 'cancelled' AS record FROM public.tenants WHERE slug = $1
		), cancelled AS (
			UPDATE public.tenants SET status = 'cancelled', cancelled_at = coalesce(cancelled_at, now()), updated_at = now()
			WHERE slug = $1
		), recorded AS (
			INSERT INTO public.audit_log (actor, action, tenant_slug) SELECT $2, $3, slug FROM before WHERE record
		)
		SELECT record FROM before`, slug.s, Actor(ctx), AuditCancel, record)
	batch.Queue(EndSessionsOfCancelled, []string{slug.s})
	batch.Queue(EndJobsOfCancelled, []string{slug.s})
	results := tx.SendBatch(ctx, batch)
	err = results.QueryRow().Scan(&recorded)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrUnknownTenant
	}
	if err = errors.Join(err, results.Close()); err != nil {
		return false, fmt.Errorf("cancel tenant %s: %w", slug, err)
	}
	return recorded, nil
}

// EndSessionsOfCancelled is SQL that ends the sessions of those of the tenants
// $1 that are cancelled.
const EndSessionsOfCancelled = `
	DELETE FROM public.sessions s USING public.tenants t
	WHERE t.slug = ANY ($1) AND t.status = 'cancelled' AND s.tenant_slug = t.slug`

// EndJobsOfCancelled is SQL that cancels the waiting jobs of those of the
// tenants $1 that are cancelled. One that is running fails at its next data
// call, and is marked so that River does not try it again.
const EndJobsOfCancelled = `
	UPDATE public.river_job j SET
		state = CASE WHEN j.state = 'running' THEN j.state ELSE 'cancelled' END,
		finalized_at = CASE WHEN j.state = 'running' THEN NULL ELSE now() END,
		metadata = j.metadata || jsonb_build_object('cancel_attempted_at', now())
	FROM public.tenants t
	WHERE t.slug = ANY ($1) AND t.status = 'cancelled' AND j.metadata @> jsonb_build_object('tenant', t.slug)
		AND j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled')`
