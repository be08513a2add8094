package inbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/subproduct/tenancy"
)

const (
	// together is what the events of one statement may weigh: each its bytes, and
	// at least leastWeight, which makes 16 of them.
	together    = 1 << 20
	leastWeight = together / 16
	// storeWait is how long a statement waits for another transaction, one that
	// deletes the event with the same bytes for example: then it is tried again
	// behind those that came meanwhile.
	storeWait = "300ms"
)

func weight(a *arrival) int {
	if a.alone {
		return together + 1
	}
	return max(len(a.Body), leastWeight)
}

// insertAll stores events that came at the same time by one statement. Where the
// server refuses it, each is to be tried by its own.
func (in *Inbox) insertAll(ctx context.Context, arrivals []*arrival) error {
	arrivals[0].leads = true
	err := in.insert(ctx, arrivals)
	refused := (*pgconn.PgError)(nil)
	if len(arrivals) > 1 && errors.As(err, &refused) || tenancy.IsLockTimeout(err) {
		for _, a := range arrivals {
			a.again = true
		}
		return nil
	}
	return err
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
		SELECT *, now() + (i - 1) * interval '1 microsecond' AS at FROM unnest($1::text[], $2::text[], $3::text[], $4::bool[], $5::text[], $6::text[], $8::bytea[], $9::text[], $10::text[],
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
			received_at, answered, processed_at, attempts, claimed_by, next_attempt_at, seconds)
		SELECT event_type, nullif(slug, ''), lifecycle, CASE WHEN instant THEN 'done' ELSE status END, nullif(reason, ''), ($7::bytea[])[i], sum, signed_with,
			at, instant OR status = 'ignored', CASE WHEN instant OR status <> 'pending' THEN clock_timestamp() END, claim::int,
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
			plan_type = CASE WHEN c.plan = '' OR t.plan_as_of > c.at THEN t.plan_type ELSE c.plan END,
			plan_as_of = CASE WHEN c.plan = '' THEN t.plan_as_of ELSE greatest(t.plan_as_of, c.at) END
		FROM change c WHERE t.slug = c.slug
	), recorded AS (
		INSERT INTO public.audit_log (actor, action, tenant_slug) SELECT $18, action, slug FROM change
	)
	SELECT id, status, body_sha256 FROM event`

func (in *Inbox) insert(ctx context.Context, arrivals []*arrival) error {
	cancelled := byTenant(arrivals)
	batch := &pgx.Batch{}
	batch.Queue(`SELECT set_config('lock_timeout', '` + storeWait + `', true)`)
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
		column(arrivals, func(a *arrival) string { return in.handlers[a.Type].action }),
		column(arrivals, func(a *arrival) bool { return a.first }),
		in.self, in.options.Lease.Seconds(), tenancy.LockKey, in.system.LatestVersion(), tenancy.ActorPlatform)
	if cancelled != nil {
		batch.Queue(tenancy.EndSessionsOfCancelled, cancelled)
		batch.Queue(tenancy.EndJobsOfCancelled, cancelled)
	}
	results := in.system.SendBatch(ctx, batch)
	_, _ = results.Exec()
	rows, _ := results.Query()
	stored, err := pgx.CollectRows(rows, pgx.RowToStructByPos[inserted])
	if err = cmp.Or(err, results.Close()); err != nil {
		return err
	}
	for _, s := range stored {
		in.arrived(ctx, arrivals, s)
	}
	return nil
}

// inserted is a row that insertSQL returns.
type inserted struct {
	ID     int64
	Status string
	Sum    []byte
}

// arrived says what was stored. Copies that came together share the row.
func (in *Inbox) arrived(ctx context.Context, arrivals []*arrival, row inserted) {
	var a *arrival
	for _, copied := range slices.Backward(arrivals) {
		if bytes.Equal(copied.sum[:], row.Sum) {
			a = copied
			a.id, a.status, a.isNew = row.ID, row.Status, true
		}
	}
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
		if a.becomes == tenancy.Cancelled {
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
