package inbox

import (
	"errors"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// head is the tenant's next event: its newest unfinished lifecycle event, else
// its oldest event. $1 is the slug. A range and an order that begin with the
// slug lead the planner to the index of what is pending; by id alone it might
// read all that ever was.
const head = `coalesce(
	(SELECT id FROM (SELECT tenant_slug, id FROM public.webhook_events
		WHERE status = 'pending' AND lifecycle AND (tenant_slug, id) BETWEEN ($1, 0) AND ($1, 9223372036854775807)
		ORDER BY tenant_slug DESC, id DESC LIMIT 1) newest),
	(SELECT id FROM (SELECT tenant_slug, id FROM public.webhook_events
		WHERE status = 'pending' AND (tenant_slug, id) BETWEEN ($1, 0) AND ($1, 9223372036854775807)
		ORDER BY tenant_slug, id LIMIT 1) oldest))`

// claimSQL counts an attempt at the tenant's next event before it is made, so
// that one that takes its process down counts too, and keeps other processes
// away for the lease. It claims nothing that is not due, that is of no type in
// $4, or whose tenant another transaction has locked.
//
// An event that another process had claimed is claimed again when the lease is
// over; where that was its last attempt it is failed. An event that this process
// has claimed and not tried is not counted twice.
const claimSQL = `
	WITH head AS MATERIALIZED (
		SELECT id, event_type, attempts, coalesce(claimed_by <> $2, false) AS taken,
			next_attempt_at <= now() OR claimed_by = $2 OR $8 AND claimed_by IS NULL AS due
		FROM public.webhook_events WHERE status = 'pending' AND id = ` + head + `
	), locked AS MATERIALIZED (
		SELECT id, attempts, taken, taken AND attempts >= $5 AS spent, pg_try_advisory_xact_lock($3::int, hashtext($1)) AS free
		FROM head WHERE due AND event_type = ANY ($4)
	), claimed AS (
		UPDATE public.webhook_events e SET
			attempts = e.attempts + CASE WHEN e.claimed_by = $2 OR l.spent THEN 0 ELSE 1 END,
			last_error = CASE WHEN l.taken THEN $6 ELSE e.last_error END,
			status = CASE WHEN l.spent THEN 'failed' ELSE 'pending' END,
			processed_at = CASE WHEN l.spent THEN now() END,
			claimed_by = CASE WHEN l.spent THEN NULL ELSE $2 END,
			next_attempt_at = now() + make_interval(secs => $7)
		FROM locked l
		WHERE e.id = l.id AND l.free AND e.status = 'pending' AND (e.next_attempt_at <= now() OR e.claimed_by = $2 OR $8 AND e.claimed_by IS NULL)
		RETURNING e.id, e.status
	), lost AS (
		INSERT INTO public.webhook_attempts (event_id, attempt, started_at, seconds, error)
		SELECT l.id, l.attempts, now(), 0, $6 FROM locked l JOIN claimed USING (id) WHERE l.taken
	)
	SELECT h.id, h.event_type, coalesce(c.status, ''), h.taken OR l.free IS NOT NULL
	FROM head h LEFT JOIN locked l USING (id) LEFT JOIN claimed c USING (id)`

// lostAttempt is the error of an attempt that nobody recorded the end of.
const lostAttempt = "the process or its connection ended in the middle of this attempt"

// claimArgs are those of claimSQL; wake makes the event due in any case.
func (in *Inbox) claimArgs(slug tenancy.Slug, types []string, wake bool) []any {
	return []any{slug.String(), in.self, tenancy.LockKey, types, in.options.MaxAttempts, lostAttempt, in.options.Lease.Seconds(), wake}
}

// scanClaim reads the outcome of a claim: claimed, or why the drain is over, or
// neither, when the event is failed and the next one may be claimed.
func (in *Inbox) scanClaim(row pgx.Row, slug tenancy.Slug) (claimed bool, eventType string, end ending, err error) {
	var id int64
	var status string
	var taken bool
	err = row.Scan(&id, &eventType, &status, &taken)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, "", empty, nil
	case err != nil:
		return false, "", blocked, err
	case status == Failed:
		in.log.Error("event failed for good: see `events show`, then `events retry`",
			"event_id", id, "tenant", slug.String(), "error", lostAttempt)
		return false, eventType, goesOn, nil
	case status == Pending:
		return true, eventType, goesOn, nil
	case taken:
		return false, eventType, busy, nil
	}
	return false, eventType, blocked, nil
}

// claim claims the tenant's next event. A slow one is claimed with a slow slot
// alone, which is kept then: release gives it back after the attempt.
func (in *Inbox) claim(slug tenancy.Slug) (claimed bool, end ending, release func(), err error) {
	types, release := in.quick, func() {}
	select {
	case in.slow <- struct{}{}:
		types, release = in.known, func() { <-in.slow }
	default:
	}
	ctx, cancel := in.attemptContext()
	defer cancel()
	claimed, eventType, end, err := in.scanClaim(in.system.QueryRow(ctx, claimSQL, in.claimArgs(slug, types, false)...), slug)
	if !claimed || !in.handlers[eventType].Slow {
		release()
		release = func() {}
	}
	if end == blocked && in.handlers[eventType].Slow && err == nil {
		end = busy // no slow slot was free
	}
	return claimed, end, release, err
}
