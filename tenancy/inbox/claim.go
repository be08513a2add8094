package inbox

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// head is the tenant's next event: its newest unfinished lifecycle event, else
// its oldest event. $1 is the slug. The order by slug, too, leads the planner to
// the index of what is pending; by id alone it might read all that ever was.
const head = `coalesce(
	(SELECT id FROM (SELECT tenant_slug, id FROM public.webhook_events
		WHERE status = 'pending' AND lifecycle AND (tenant_slug, id) <= ($1, 9223372036854775807)
		ORDER BY tenant_slug DESC, id DESC LIMIT 1) newest WHERE tenant_slug = $1),
	(SELECT id FROM (SELECT tenant_slug, id FROM public.webhook_events
		WHERE status = 'pending' AND (tenant_slug, id) >= ($1, 0)
		ORDER BY tenant_slug, id LIMIT 1) oldest WHERE tenant_slug = $1))`

// lostAttempt is the error of an attempt that nobody recorded the end of.
const lostAttempt = "the process or its connection ended in the middle of this attempt"

// claimed is the outcome of a claim.
type claimed struct {
	claimed bool
	slow    bool // a slow slot is held for it
	over    bool // there is nothing to do for now
	end     ending
}

// claim counts an attempt at the tenant's next event before it is made, so that
// one that takes its process down counts too, and keeps other processes away for
// the lease. It claims nothing that is not due, that this program has no handler
// for, or whose tenant another transaction has locked.
//
// An event that another process had claimed is claimed again when the lease is
// over. Where that was its last attempt it is failed.
func (in *Inbox) claim(slug tenancy.Slug) (claimed, error) {
	c, event, err := in.claimOf(slug, in.quick)
	if err != nil || c.claimed || slices.Contains(in.quick, event) || !slices.Contains(in.known, event) {
		return c, err
	}
	select {
	case in.slow <- struct{}{}:
	default:
		return claimed{over: true, end: busy}, nil
	}
	c, _, err = in.claimOf(slug, in.known)
	if c.slow = err == nil && c.claimed; !c.slow {
		<-in.slow
	}
	return c, err
}

// claimOf claims the tenant's next event if it is of one of the types, and
// returns its type.
func (in *Inbox) claimOf(slug tenancy.Slug, types []string) (c claimed, eventType string, err error) {
	ctx, cancel := in.attemptContext()
	defer cancel()
	var id int64
	var due, taken, free bool
	var status string
	err = in.system.QueryRow(ctx, `
		WITH head AS MATERIALIZED (
			SELECT id, event_type, attempts, claimed_by, next_attempt_at <= now() OR claimed_by = $2 AS due,
				coalesce(claimed_by <> $2, false) AS taken
			FROM public.webhook_events WHERE status = 'pending' AND id = `+head+`
		), locked AS MATERIALIZED (
			SELECT id, pg_try_advisory_xact_lock($3::int, hashtext($1)) AS free FROM head WHERE due AND event_type = ANY ($4)
		), claimed AS (
			UPDATE public.webhook_events e SET
				attempts = e.attempts + CASE WHEN e.claimed_by = $2 OR h.taken AND h.attempts >= $5 THEN 0 ELSE 1 END,
				last_error = CASE WHEN h.taken THEN $6 ELSE e.last_error END,
				status = CASE WHEN h.taken AND h.attempts >= $5 THEN 'failed' ELSE 'pending' END,
				processed_at = CASE WHEN h.taken AND h.attempts >= $5 THEN now() END,
				claimed_by = CASE WHEN h.taken AND h.attempts >= $5 THEN NULL ELSE $2 END,
				next_attempt_at = now() + make_interval(secs => $7)
			FROM head h JOIN locked l USING (id)
			WHERE e.id = h.id AND l.free AND e.status = 'pending' AND (e.next_attempt_at <= now() OR e.claimed_by = $2)
			RETURNING e.id, e.status
		), lost AS (
			INSERT INTO public.webhook_attempts (event_id, attempt, started_at, seconds, error)
			SELECT h.id, h.attempts, now(), 0, $6 FROM head h JOIN claimed USING (id) WHERE h.taken
		)
		SELECT h.id, h.event_type, h.due, h.taken, coalesce(l.free, false), coalesce(c.status, '')
		FROM head h LEFT JOIN locked l USING (id) LEFT JOIN claimed c USING (id)`,
		slug.String(), in.self, tenancy.LockKey, types, in.options.MaxAttempts, lostAttempt, in.options.Lease.Seconds()).
		Scan(&id, &eventType, &due, &taken, &free, &status)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return claimed{over: true, end: empty}, "", nil
	case err != nil:
		return claimed{}, "", err
	case status == Failed:
		in.log.Error("event failed for good: see `events show`, then `events retry`",
			"event_id", id, "tenant", slug.String(), "error", lostAttempt)
		return claimed{}, eventType, nil // on to the next
	case status == Pending:
		return claimed{claimed: true}, eventType, nil
	case due && !free || taken:
		return claimed{over: true, end: busy}, eventType, nil
	}
	return claimed{over: true, end: blocked}, eventType, nil
}
