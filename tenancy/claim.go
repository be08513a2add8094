package tenancy

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// claimed is a due event that this replica has taken.
type claimed struct {
	id     int64
	slug   Slug
	status string
	free   bool // nobody works on its tenant
}

// lostAttempt is the error of an attempt that nobody could tell the end of.
const lostAttempt = "the process or its connection ended in the middle of this attempt"

// claim takes due events that are first in their tenant's queue, or need not
// wait for it, and puts their next turn off by the lease, so that no other
// replica takes them too. A claim is not a promise: the tenant's lock is what
// keeps two from applying one event.
//
// An attempt is on record (started_at) before it begins. One that is still there
// when the event is due and its tenant free has ended with its process: it
// counts as failed, or an event that brings the process down would do so for
// ever.
func (in *Inbox) claim(ctx context.Context, limit int) ([]claimed, error) {
	rows, err := in.db.pool.Query(ctx, `
		WITH due AS MATERIALIZED (
			SELECT e.id, e.tenant_slug, e.attempts + 1 AS attempt, e.started_at
			FROM public.webhook_events e
			WHERE e.status = 'pending' AND e.next_attempt_at <= now()
				AND (e.event_type = ANY ($1) OR NOT EXISTS (
					SELECT FROM public.webhook_events o
					WHERE o.tenant_slug = e.tenant_slug AND o.status = 'pending' AND o.id < e.id
						AND (o.event_type = ANY ($2) OR e.event_type <> ALL ($2)
							OR to_regnamespace(quote_ident('tenant_' || e.tenant_slug)) IS NOT NULL)))
			ORDER BY e.next_attempt_at
			LIMIT $3
			FOR UPDATE SKIP LOCKED
		), tried AS MATERIALIZED (
			SELECT id, attempt, started_at, pg_try_advisory_xact_lock($4::int, hashtext(tenant_slug)) AS free FROM due
		), lost AS MATERIALIZED (
			SELECT id, attempt, started_at, attempt >= $5 AS final FROM tried WHERE free AND started_at IS NOT NULL
		), noted AS (
			INSERT INTO public.webhook_attempts (event_id, attempt, started_at, seconds, error)
			SELECT id, attempt, started_at, extract(epoch FROM now() - started_at), $6 FROM lost
		)
		UPDATE public.webhook_events e SET
			attempts = coalesce(l.attempt, e.attempts),
			last_error = CASE WHEN l.id IS NULL THEN e.last_error ELSE $6 END,
			status = CASE WHEN l.final THEN 'failed' ELSE e.status END,
			processed_at = CASE WHEN l.final THEN now() END,
			started_at = CASE WHEN l.final THEN NULL WHEN t.free THEN now() ELSE e.started_at END,
			next_attempt_at = now() + make_interval(secs => CASE WHEN NOT t.free THEN $7
				ELSE greatest($8, least($9, $10 * power(2, least(t.attempt, 32)))) END)
		FROM tried t LEFT JOIN lost l ON l.id = t.id
		WHERE e.id = t.id
		RETURNING e.id, e.tenant_slug, e.status, t.free`,
		in.types(overrides), in.types(newTenant), limit, lockSpace, in.options.MaxAttempts, lostAttempt,
		in.options.Poll.Seconds(), in.options.Lease.Seconds(), maxRetryDelay.Seconds(), in.options.FirstRetry.Seconds())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c claimed, err error) {
		err = row.Scan(&c.id, &c.slug.s, &c.status, &c.free)
		return c, err
	})
}
