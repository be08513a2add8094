package inbox

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"example.com/subproduct/tenancy"
)

const (
	noteTimeout = 5 * time.Second // for the record of an attempt that failed
	maxBackoff  = time.Hour
)

// backoff is exponential with jitter: events that failed together must not come
// back together.
func (in *Inbox) backoff(attempt int) time.Duration {
	delay := maxBackoff
	if attempt < 32 {
		delay = min(delay, in.options.FirstRetry<<max(attempt-1, 0))
	}
	return delay/2 + rand.N(delay/2+1)
}

const failedForGood = "event failed for good: see `events show`, then `events retry`"

// voidBy is why a void event has no effect.
func voidBy(id int64) string { return fmt.Sprintf("void: superseded by event %d", id) }

// note records that an attempt failed, and when the next one is due, and says
// what the platform is answered. An attempt that the process's own end has cut
// short does not count, and is due at once. Where even the record fails the
// lease runs out.
func (in *Inbox) note(a attempt, cause error) Outcome {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.base), noteTimeout)
	defer cancel()
	e, cut, backoff := a.event, in.base.Err() != nil, in.backoff(a.event.Attempt)
	final := !cut && (isPermanent(cause) || e.Attempt >= in.options.MaxAttempts)
	if cut {
		backoff = 0
	}
	noted, err := in.system.Exec(ctx, `
		WITH e AS (
			UPDATE public.webhook_events
			SET last_error = CASE WHEN $8 THEN last_error ELSE $2 END, claimed_by = NULL, attempts = attempts - $8::int,
				answered = answered OR id = ANY ($6), status = CASE WHEN $3 THEN 'failed' ELSE 'pending' END,
				processed_at = CASE WHEN $3 THEN now() END, next_attempt_at = now() + make_interval(secs => $4)
			WHERE id = $1 AND status = 'pending' AND claimed_by = $7 RETURNING id, attempts
		)
		INSERT INTO public.webhook_attempts (event_id, attempt, started_at, seconds, error)
		SELECT id, attempts, now() - make_interval(secs => $5), $5, $2 FROM e WHERE NOT $8`,
		e.ID, tenancy.StorableError(cause), final, backoff.Seconds(), time.Since(a.began).Seconds(), in.answeredIDs(), in.self, cut)
	message, outcome := "event failed this time", FailedOnce
	switch {
	case e.ID == 0:
		message = "inbox: cannot begin an attempt"
	case err != nil:
		message, cause = "event: attempt not recorded", fmt.Errorf("%w, after: %w", err, cause)
	case cut:
		message, outcome = "event cut short by the end of the process", Accepted
	case noted.RowsAffected() == 0:
		message, outcome = "event was finished elsewhere, or the answer to its commit was lost", Accepted
	case final:
		message, outcome = failedForGood, Rejected
	}
	if e.ID != 0 && outcome != Accepted {
		in.observe(e.Type, outcome)
	}
	in.log.ErrorContext(ctx, message, "event_id", e.ID, "event_type", e.Type, "tenant", e.Tenant.String(), "attempt", e.Attempt, "error", cause)
	return outcome
}
