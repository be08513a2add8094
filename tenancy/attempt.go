package tenancy

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// accountTimeout bounds the note that an attempt failed.
const accountTimeout = 5 * time.Second

// complete marks the event as done in the transaction of its effect; void says
// why it has none.
func complete(ctx context.Context, tx pgx.Tx, e Event, void string, started time.Time) error {
	_, err := tx.Exec(ctx, `
		WITH e AS (
			UPDATE public.webhook_events
			SET status = 'done', attempts = attempts + 1, last_error = nullif($2, ''),
				started_at = NULL, processed_at = clock_timestamp()
			WHERE id = $1 RETURNING id, attempts
		)
		INSERT INTO public.webhook_attempts (event_id, attempt, started_at, seconds, error)
		SELECT id, attempts, clock_timestamp() - make_interval(secs => $3), $3, nullif($2, '') FROM e`,
		e.ID, void, time.Since(started).Seconds())
	return err
}

// failed notes that an attempt failed, and when the next one is due. Where even
// that fails the event stays pending and is due when its lease is over. An event
// that waited in vain for a tenant which was cancelled before it came to be has
// nobody left to matter to: it ends as void.
func (in *Inbox) failed(e Event, started time.Time, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.base), accountTimeout)
	defer cancel()
	final := isPermanent(cause) || e.Attempt >= in.options.MaxAttempts
	noted, err := in.db.pool.Exec(ctx, `
		WITH e AS (
			UPDATE public.webhook_events
			SET attempts = attempts + 1, last_error = $2, started_at = NULL,
				status = CASE WHEN NOT $3 THEN 'pending' WHEN $6 AND EXISTS (
					SELECT FROM public.webhook_events c
					WHERE c.tenant_slug = $7 AND c.status = 'done' AND c.event_type = ANY ($8)) THEN 'done' ELSE 'failed' END,
				processed_at = CASE WHEN $3 THEN now() END,
				next_attempt_at = now() + make_interval(secs => $4)
			WHERE id = $1 AND status = 'pending' RETURNING id, attempts
		)
		INSERT INTO public.webhook_attempts (event_id, attempt, started_at, seconds, error)
		SELECT id, attempts, now() - make_interval(secs => $5), $5, $2 FROM e`,
		e.ID, errorText(cause), final, in.retryDelay(e.Attempt).Seconds(), time.Since(started).Seconds(),
		errors.Is(cause, ErrUnknownTenant), e.Tenant.s, in.types(overrides))
	message := "event failed this time"
	switch {
	case err != nil:
		in.log.ErrorContext(ctx, "event: attempt not recorded", "event_id", e.ID, "error", err)
	case noted.RowsAffected() == 0:
		message = "event is finished, though the answer to its commit was lost"
	case final:
		message = "event failed for good: see `events show`, then `events retry`"
	}
	in.log.ErrorContext(ctx, message, "event_id", e.ID, "event_type", e.Type,
		"tenant", e.Tenant.String(), "attempt", e.Attempt, "error", cause)
}

// maxErrorText bounds what is kept of an error.
const maxErrorText = 4000

// errorText is an error as PostgreSQL can store it: an attempt whose error could
// not be written would never count.
func errorText(err error) string {
	text := err.Error()
	if len(text) > maxErrorText {
		text = text[:maxErrorText] + "…"
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
