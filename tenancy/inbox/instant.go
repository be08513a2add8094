package inbox

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// instantTypes are the template's own events, as far as the product does nothing
// at them, with the status that they give a tenant.
func instantTypes(product Handlers) map[string]string {
	types := map[string]string{"subscription.created": "active", "tenant.cancelled": "cancelled"}
	for name := range product {
		delete(types, name)
	}
	return types
}

// insertInstant is insert for an event whose whole effect is the tenant's status:
// where the tenant is ready and nobody has its lock, the event is stored and
// applied by one statement, as done; else as pending, and drained. The event's
// id comes after the lock, so it is the newest lifecycle event of those that
// have been applied; the tenant's row is read by locking it, so it is as the
// lock's last holder left it.
func (in *Inbox) insertInstant(ctx context.Context, d Delivery, s *stored, sum []byte) error {
	batch := &pgx.Batch{}
	batch.Queue(`
		WITH locked AS MATERIALIZED (
			SELECT pg_try_advisory_xact_lock($8::int, hashtext($2)) AS ok
		), tenant AS MATERIALIZED (
			SELECT slug FROM public.tenants
			WHERE (SELECT ok FROM locked) AND slug = $2 AND schema_version >= $9 AND purging_since IS NULL
				AND to_regnamespace(quote_ident($10)) IS NOT NULL
			FOR NO KEY UPDATE
		), event AS (
			INSERT INTO public.webhook_events (event_type, tenant_slug, lifecycle, status, body, body_sha256, signed_with,
				answered, processed_at, attempts, claimed_by, next_attempt_at)
			SELECT $1, $2, true, CASE WHEN ready THEN 'done' ELSE 'pending' END, $3, $4, $5,
				ready, CASE WHEN ready THEN clock_timestamp() END, 1, CASE WHEN NOT ready THEN $6 END, now() + make_interval(secs => $7)
			FROM (SELECT EXISTS (SELECT FROM tenant) AS ready) r
			ON CONFLICT (body_sha256) WHERE newest DO NOTHING
			RETURNING id, status
		), applied AS (
			UPDATE public.tenants t SET status = $11, migrate_error = NULL, updated_at = now(),
				cancelled_at = CASE $11 WHEN 'cancelled' THEN coalesce(t.cancelled_at, now()) END
			FROM event WHERE t.slug = $2 AND event.status = 'done'
		), history AS (
			INSERT INTO public.webhook_attempts (event_id, attempt, started_at, seconds) SELECT id, 1, now(), 0 FROM event WHERE status = 'done'
		)
		SELECT id, status FROM event`,
		d.Type, s.tenant.String(), d.Body, sum, d.SignedWith, in.self, in.options.Lease.Seconds(),
		tenancy.LockKey, in.system.LatestVersion(), s.tenant.Schema(), in.instant[d.Type])
	if in.instant[d.Type] == "cancelled" {
		batch.Queue(tenancy.EndSessionsOfCancelled, s.tenant.String())
	}
	results := in.system.SendBatch(ctx, batch)
	err := results.QueryRow().Scan(&s.id, &s.status)
	if closed := results.Close(); err == nil || !errors.Is(err, pgx.ErrNoRows) {
		err = errors.Join(err, closed)
	}
	if err == nil && s.status == Done {
		in.log.InfoContext(ctx, "event applied", "event_id", s.id, "event_type", d.Type, "tenant", s.tenant.String(), "attempt", 1)
	}
	return err
}
