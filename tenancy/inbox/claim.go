package inbox

import (
	"context"
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

// claimSQL, under the tenant's lock, counts an attempt at its next event before
// it is made, so that one that takes its process down counts too. $2 is this
// process, whose own claim is not counted twice; $6 makes the event due in any
// case. What another process claimed is claimed again when the lease is over;
// where that was the last attempt it is failed.
const claimSQL = `
	WITH head AS MATERIALIZED (
		SELECT id, attempts, claimed_by = $2 AS ours, claimed_by <> $2 AS taken, claimed_by <> $2 AND attempts >= $4 AS spent,
			next_attempt_at <= now() OR claimed_by = $2 OR $6 AND claimed_by IS NULL AS due
		FROM public.webhook_events WHERE status = 'pending' AND id = ` + head + `
	), claimed AS (
		UPDATE public.webhook_events e SET
			attempts = e.attempts + CASE WHEN h.ours OR h.spent THEN 0 ELSE 1 END,
			claimed_by = CASE WHEN h.spent THEN NULL ELSE $2 END, next_attempt_at = now() + make_interval(secs => $5),
			status = CASE WHEN h.spent THEN 'failed' ELSE 'pending' END, processed_at = CASE WHEN h.spent THEN now() END,
			last_error = CASE WHEN h.taken THEN $7 ELSE e.last_error END
		FROM head h WHERE e.id = h.id AND h.due AND e.event_type = ANY ($3)
		RETURNING e.id, e.status
	), lost AS (
		INSERT INTO public.webhook_attempts (event_id, attempt, started_at, seconds, error)
		SELECT h.id, h.attempts, now(), 0, $7 FROM head h JOIN claimed USING (id) WHERE h.taken
	)
	SELECT id, coalesce(c.status, '') FROM head LEFT JOIN claimed c USING (id)`

// lostAttempt is the error of an attempt that nobody recorded the end of.
const lostAttempt = "the process or its connection ended in the middle of this attempt"

func (in *Inbox) claimArgs(slug tenancy.Slug, wake bool) []any {
	return []any{slug.String(), in.self, in.known, in.options.MaxAttempts, in.options.Lease.Seconds(), wake, lostAttempt}
}

// scanClaim reads the row of claimSQL: whether the drain goes on, for an event is
// claimed now or failed, or how it ends.
func (in *Inbox) scanClaim(row pgx.Row) (end ending, err error) {
	var id int64
	var status string
	err = row.Scan(&id, &status)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return empty, nil
	case status == Failed:
		in.log.Error(failedForGood, "event_id", id, "error", lostAttempt)
	case status == "":
		return blocked, err
	}
	return goesOn, err
}

// unclaim gives a claim back as if it had not been made, for an event whose
// handler is slow where no slot is free.
func (in *Inbox) unclaim(ctx context.Context, tx pgx.Tx, e Event) error {
	_, err := tx.Exec(ctx, `
		UPDATE public.webhook_events SET claimed_by = NULL, attempts = attempts - 1, next_attempt_at = now() WHERE id = $1`, e.ID)
	return err
}
