package inbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/subproduct/tenancy"
)

// mostArrivals bounds a statement of insert: a body has up to 1 MiB.
const mostArrivals = 16

// insertAll stores events that came at the same time by one statement, or each
// by its own where the server refuses that.
func (in *Inbox) insertAll(ctx context.Context, arrivals []*arrival) error {
	err := in.insert(ctx, arrivals)
	if refused := (*pgconn.PgError)(nil); len(arrivals) == 1 || !errors.As(err, &refused) {
		return err
	}
	for i, a := range arrivals {
		a.err = in.insert(ctx, arrivals[i:i+1])
	}
	return nil
}

// insertSQL stores new events, in the order in which they came, and returns
// those. It claims an event, which counts the first attempt, where nothing of
// the tenant is before it.
//
// Where the whole effect is the tenant's status and plan, the tenant is ready and
// nobody has its lock, the event is applied at once and stored as done. Its id
// comes after the lock, so of all lifecycle events that were applied it is the
// newest, and the tenant's row, read by locking it, is as the lock's last holder
// left it. LIMIT keeps the planner to the keys.
const insertSQL = `
	WITH given AS MATERIALIZED (
		SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bool[], $5::text[], $6::text[], $8::bytea[], $9::text[], $10::text[],
			$11::text[], $12::text[], $13::bool[]) WITH ORDINALITY
			AS g (event_type, slug, schema, lifecycle, status, reason, sum, signed_with, becomes, plan, action, first, i)
	), ready AS MATERIALIZED (
		SELECT g.i FROM given g CROSS JOIN LATERAL (
			SELECT FROM public.tenants
			WHERE slug = g.slug AND schema_version >= $17 AND purging_since IS NULL AND to_regnamespace(quote_ident(g.schema)) IS NOT NULL
				AND pg_try_advisory_xact_lock($16::int, hashtext(slug))
			LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) t
		WHERE g.becomes <> ''
	), event AS (
		INSERT INTO public.webhook_events (event_type, tenant_slug, lifecycle, status, last_error, body, body_sha256, signed_with,
			answered, processed_at, attempts, claimed_by, next_attempt_at, seconds)
		SELECT event_type, nullif(slug, ''), lifecycle, CASE WHEN instant THEN 'done' ELSE status END, nullif(reason, ''), ($7::bytea[])[i], sum, signed_with,
			instant OR status = 'ignored', CASE WHEN instant OR status <> 'pending' THEN clock_timestamp() END, claim::int,
			CASE WHEN claim AND NOT instant THEN $14 END, now() + CASE WHEN claim THEN make_interval(secs => $15) ELSE '0' END,
			CASE WHEN instant THEN 0 END
		FROM (SELECT g.*, ready.i IS NOT NULL AS instant, g.first AND g.status = 'pending' AND (g.lifecycle OR (
				SELECT 1 FROM public.webhook_events WHERE tenant_slug = g.slug AND status = 'pending' LIMIT 1) IS NULL) AS claim
			FROM given g LEFT JOIN ready USING (i) ORDER BY g.i) e
		ON CONFLICT (body_sha256) WHERE newest DO NOTHING
		RETURNING id, status, body_sha256
	), change AS (
		SELECT g.* FROM event JOIN given g ON g.sum = event.body_sha256 WHERE event.status = 'done' AND g.becomes <> ''
	), applied AS (
		UPDATE public.tenants t SET status = c.becomes, migrate_error = NULL, updated_at = now(),
			cancelled_at = CASE c.becomes WHEN 'cancelled' THEN coalesce(t.cancelled_at, now()) END,
			plan_type = CASE WHEN c.plan = '' OR t.plan_as_of > now() THEN t.plan_type ELSE c.plan END,
			plan_as_of = CASE WHEN c.plan = '' THEN t.plan_as_of ELSE greatest(t.plan_as_of, now()) END
		FROM change c WHERE t.slug = c.slug
	), recorded AS (
		INSERT INTO public.audit_log (actor, action, tenant_slug) SELECT $18, action, slug FROM change
	)
	SELECT id, status, body_sha256 FROM event`

func (in *Inbox) insert(ctx context.Context, arrivals []*arrival) error {
	cancelled := byTenant(arrivals)
	batch := &pgx.Batch{}
	batch.Queue(insertSQL,
		column(arrivals, func(a *arrival) string { return a.Type }),
		column(arrivals, func(a *arrival) string { return a.tenant.String() }),
		column(arrivals, func(a *arrival) string { return a.tenant.Schema() }),
		column(arrivals, func(a *arrival) bool { return a.lifecycle }),
		column(arrivals, func(a *arrival) string { return a.status }),
		column(arrivals, func(a *arrival) string { return a.reason }),
		column(arrivals, func(a *arrival) []byte { return a.Body }),
		column(arrivals, func(a *arrival) []byte { return a.sum[:] }),
		column(arrivals, func(a *arrival) string { return a.SignedWith }),
		column(arrivals, func(a *arrival) string { return a.becomes }),
		column(arrivals, func(a *arrival) string { return a.plan }),
		column(arrivals, func(a *arrival) string { return actions[a.Type] }),
		column(arrivals, func(a *arrival) bool { return a.first }),
		in.self, in.options.Lease.Seconds(), tenancy.LockKey, in.system.LatestVersion(), tenancy.ActorPlatform)
	if cancelled != nil {
		batch.Queue(tenancy.EndSessionsOfCancelled, cancelled)
		batch.Queue(tenancy.EndJobsOfCancelled, cancelled)
	}
	results := in.system.SendBatch(ctx, batch)
	rows, _ := results.Query()
	stored, err := pgx.CollectRows(rows, pgx.RowToStructByPos[inserted])
	if err = cmp.Or(err, results.Close()); err != nil {
		return err
	}
	for _, s := range stored {
		for _, a := range arrivals { // copies that came together share the row
			if bytes.Equal(a.sum[:], s.Sum) {
				in.arrived(ctx, a, s)
			}
		}
	}
	return nil
}

// inserted is a row that insertSQL returns.
type inserted struct {
	ID     int64
	Status string
	Sum    []byte
}

// arrived says what was stored.
func (in *Inbox) arrived(ctx context.Context, a *arrival, s inserted) {
	a.id, a.status, a.isNew = s.ID, s.Status, true
	if a.status != Pending {
		in.observe(a.Type, outcomes[a.status])
	}
	if a.status == Done {
		in.log.InfoContext(ctx, "event applied", "event_id", a.id, "event_type", a.Type, "tenant", a.tenant.String(), "attempt", 1)
		in.told(ctx, a.Type, a.tenant)
	}
}

// byTenant has only the first event of each tenant claimed or applied at once,
// and returns the tenants that this may cancel.
func byTenant(arrivals []*arrival) (cancelled []string) {
	met := map[tenancy.Slug]bool{}
	for _, a := range arrivals {
		if a.first = !met[a.tenant]; !a.first {
			a.becomes = ""
		}
		if a.becomes == "cancelled" {
			cancelled = append(cancelled, a.tenant.String())
		}
		met[a.tenant] = true
	}
	return cancelled
}

// column is what an array parameter has of each event.
func column[T any](arrivals []*arrival, of func(*arrival) T) []T {
	values := make([]T, len(arrivals))
	for i, a := range arrivals {
		values[i] = of(a)
	}
	return values
}
