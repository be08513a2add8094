package tenancy

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// accountTimeout bounds the note that an attempt failed.
const accountTimeout = 5 * time.Second

// complete marks the event as done in the transaction of its effect.
func (in *Inbox) complete(ctx context.Context, tx pgx.Tx, e Event, note string, started time.Time) error {
	_, err := tx.Exec(ctx, `
		WITH e AS (
			UPDATE public.webhook_events
			SET status = 'done', attempts = attempts + 1, last_error = nullif($2, ''), processed_at = now()
			WHERE id = $1 RETURNING id, attempts
		)
		INSERT INTO public.webhook_attempts (event_id, attempt, started_at, seconds, error)
		SELECT id, attempts, $3, $4, nullif($2, '') FROM e`,
		e.ID, note, started, time.Since(started).Seconds())
	return err
}

// failed notes that an attempt failed, and when the next one is due. Where even
// that fails the event stays pending and is due when its lease is over.
func (in *Inbox) failed(ctx context.Context, e Event, started time.Time, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), accountTimeout)
	defer cancel()
	final := isPermanent(cause) || e.Attempt >= in.options.MaxAttempts
	_, err := in.db.pool.Exec(ctx, `
		WITH e AS (
			UPDATE public.webhook_events
			SET attempts = attempts + 1, last_error = $2,
				status = CASE WHEN $3 THEN 'failed' ELSE 'pending' END,
				processed_at = CASE WHEN $3 THEN now() END,
				next_attempt_at = now() + make_interval(secs => $4)
			WHERE id = $1 AND status = 'pending' RETURNING id, attempts
		)
		INSERT INTO public.webhook_attempts (event_id, attempt, started_at, seconds, error)
		SELECT id, attempts, $5, $6, $2 FROM e`,
		e.ID, cause.Error(), final, in.retryDelay(e.Attempt).Seconds(), started, time.Since(started).Seconds())
	if err != nil {
		in.log.ErrorContext(ctx, "event: attempt not recorded", "event_id", e.ID, "error", err)
	}
	message := "event failed this time"
	if final {
		message = "event failed for good: see `events show`, then `events retry`"
	}
	in.log.ErrorContext(ctx, message, "event_id", e.ID, "event_type", e.Type,
		"tenant", e.Tenant.String(), "attempt", e.Attempt, "error", cause)
}
