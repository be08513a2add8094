package inbox

import (
	"context"
	"time"

	"example.com/subproduct/tenancy"
)

// noteTimeout bounds the record of an attempt that failed.
const noteTimeout = 5 * time.Second

// note records that an attempt failed, and when the next one is due, and says
// what the platform is answered. Where even that fails the lease runs out. An
// attempt that the process's own end has cut short does not count.
func (in *Inbox) note(a attempt, cause error) Outcome {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.base), noteTimeout)
	defer cancel()
	if in.base.Err() != nil {
		in.release(ctx, a.event)
		return Accepted
	}
	final := isPermanent(cause) || a.event.Attempt >= in.options.MaxAttempts
	noted, err := in.system.Exec(ctx, `
		WITH e AS (
			UPDATE public.webhook_events
			SET last_error = $2, claimed_by = NULL, answered = answered OR id = ANY ($6),
				status = CASE WHEN $3 THEN 'failed' ELSE 'pending' END, processed_at = CASE WHEN $3 THEN now() END,
				next_attempt_at = now() + make_interval(secs => $4)
			WHERE id = $1 AND status = 'pending' AND claimed_by = $7 RETURNING id, attempts
		)
		INSERT INTO public.webhook_attempts (event_id, attempt, started_at, seconds, error)
		SELECT id, attempts, now() - make_interval(secs => $5), $5, $2 FROM e`,
		a.event.ID, tenancy.StorableError(cause), final, in.backoff(a.event.Attempt).Seconds(), time.Since(a.began).Seconds(),
		in.answeredIDs(), in.self)
	message, outcome := "event failed this time", FailedOnce
	switch {
	case err != nil:
		in.log.ErrorContext(ctx, "event: attempt not recorded", "event_id", a.event.ID, "error", err)
	case noted.RowsAffected() == 0:
		message, outcome = "event was finished elsewhere, or the answer to its commit was lost", Accepted
	case final:
		message, outcome = "event failed for good: see `events show`, then `events retry`", Rejected
	}
	in.log.ErrorContext(ctx, message, "event_id", a.event.ID, "event_type", a.event.Type,
		"tenant", a.event.Tenant.String(), "attempt", a.event.Attempt, "error", cause)
	return outcome
}

// release gives a claim back as if it had not been made.
func (in *Inbox) release(ctx context.Context, e Event) {
	_, err := in.system.Exec(ctx, `
		UPDATE public.webhook_events SET claimed_by = NULL, attempts = attempts - 1, next_attempt_at = now()
		WHERE id = $1 AND status = 'pending' AND claimed_by = $2`, e.ID, in.self)
	if err != nil {
		in.log.DebugContext(ctx, "claim not released", "event_id", e.ID, "error", err)
	}
}
