package inbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// Record is a row of public.webhook_events; in JSON its fields have the columns'
// names, without the body.
type Record struct {
	ID            int64      `json:"id"`
	EventType     string     `json:"event_type"`
	TenantSlug    *string    `json:"tenant_slug"` // nil: the event names none that could be
	Status        string     `json:"status"`
	Attempts      int        `json:"attempts"`
	LastError     *string    `json:"last_error"`
	SignedWith    string     `json:"signed_with"` // "current" or "previous", when it was stored
	ReceivedAt    time.Time  `json:"received_at"`
	NextAttemptAt time.Time  `json:"next_attempt_at"` // of pending ones
	ProcessedAt   *time.Time `json:"processed_at"`
	Seconds       *float64   `json:"-"` // that the attempt which succeeded took
	Body          []byte     `json:"-"` // raw; of Show alone
}

// Attempt is one try at an event, with the columns of public.webhook_attempts.
type Attempt struct {
	Attempt   int       `json:"attempt"`
	StartedAt time.Time `json:"started_at"`
	Seconds   float64   `json:"seconds"`
	Error     string    `json:"error"` // empty: it succeeded
}

// Errors of Show and Retry.
var (
	ErrUnknownEvent = errors.New("no such event")
	ErrNotRetryable = errors.New("the event cannot be tried again")
)

const columns = `id, event_type, tenant_slug, status, attempts, last_error, signed_with, received_at, next_attempt_at, processed_at, seconds`

// List returns up to limit events, newest first; with a status only those.
func List(ctx context.Context, db *tenancy.DB, status string, limit int) ([]Record, error) {
	rows, _ := db.System().Query(ctx, `
		SELECT `+columns+`, NULL FROM public.webhook_events WHERE $1 = '' OR status = $1 ORDER BY id DESC LIMIT $2`, status, limit)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Record])
}

// PreviousSecretUsed returns when an event last came that the previous secret
// had signed; nil when none is kept.
func PreviousSecretUsed(ctx context.Context, db *tenancy.DB) (last *time.Time, err error) {
	err = db.System().QueryRow(ctx, `SELECT max(received_at) FROM public.webhook_events WHERE signed_with = 'previous'`).Scan(&last)
	return last, err
}

// Show returns an event, and what was tried for it, oldest first, or
// ErrUnknownEvent.
func Show(ctx context.Context, db *tenancy.DB, id int64) (Record, []Attempt, error) {
	rows, _ := db.System().Query(ctx, `SELECT `+columns+`, body FROM public.webhook_events WHERE id = $1`, id)
	e, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Record])
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrUnknownEvent
	}
	if err != nil {
		return e, nil, fmt.Errorf("event %d: %w", id, err)
	}
	rows, _ = db.System().Query(ctx, `
		SELECT attempt, started_at, seconds, error FROM public.webhook_attempts WHERE event_id = $1 ORDER BY id`, id)
	attempts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Attempt])
	if e.Seconds != nil && e.ProcessedAt != nil {
		took := time.Duration(*e.Seconds * float64(time.Second))
		attempts = append(attempts, Attempt{e.Attempts, e.ProcessedAt.Add(-took), *e.Seconds, ""})
	}
	return e, attempts, err
}

// retried records what a statement, which returns the tenants of the events that
// it has made pending, has had tried again, and counts them by tenant. $1 is who
// asked.
const retried = `
	RETURNING tenant_slug), counted AS (
		SELECT tenant_slug, count(*) AS n FROM retried GROUP BY tenant_slug), recorded AS (
		INSERT INTO public.audit_log (actor, action, tenant_slug, detail) SELECT $1, 'retry', tenant_slug, $2 || ': ' || n FROM counted)
	SELECT tenant_slug, n FROM counted`

// again begins the count of attempts anew; their history stays. An event that is
// being tried is left alone.
const again = `
	WITH retried AS (
		UPDATE public.webhook_events SET status = 'pending', processed_at = NULL, claimed_by = NULL, next_attempt_at = now(),
			attempts = CASE WHEN status = 'pending' THEN attempts ELSE 0 END
		WHERE tenant_slug IS NOT NULL AND status <> 'done' AND (claimed_by IS NULL OR next_attempt_at <= now())`

// retry runs a statement that ends in retried; what says which events it is for.
func retry(ctx context.Context, db *tenancy.DB, what, sql string, args ...any) (n int64, err error) {
	rows, _ := db.System().Query(ctx, sql, append([]any{tenancy.Actor(ctx), what}, args...)...)
	counted, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
		Tenant string
		N      int64
	}])
	for _, c := range counted {
		slug, _ := tenancy.ParseSlug(c.Tenant) // it was stored as one
		db.System().Told(ctx, tenancy.AuditRetry, slug, fmt.Sprintf("%s: %d", what, c.N))
		n += c.N
	}
	return n, err
}

// Retry has the worker try a failed or ignored event again at once, with as many
// attempts as a new one has; a pending event does not wait for its next attempt
// any longer. A lifecycle event that a later one has superseded ends as void. It
// returns ErrUnknownEvent, or ErrNotRetryable for one that is done, or that
// names no tenant.
func Retry(ctx context.Context, db *tenancy.DB, id int64) error {
	n, err := retry(ctx, db, fmt.Sprintf("event %d", id), again+` AND id = $3`+retried, id)
	if err != nil || n > 0 {
		return err
	}
	e, _, err := Show(ctx, db, id)
	if err != nil {
		return err
	}
	if e.TenantSlug == nil {
		return fmt.Errorf("event %d: %w: it names no tenant; see WEBHOOK_TENANT_FIELDS, then have the platform send it again", id, ErrNotRetryable)
	}
	return fmt.Errorf("event %d: %w: it is %s", id, ErrNotRetryable, e.Status)
}

// RetryFailed is Retry for every failed event that names a tenant, and returns
// how many those are.
func RetryFailed(ctx context.Context, db *tenancy.DB) (int64, error) {
	return retry(ctx, db, "failed events", again+` AND status = 'failed'`+retried)
}

// RetryIgnored is Retry for every ignored event of a type, for a handler that
// came after them. lifecycle is what that handler says.
func RetryIgnored(ctx context.Context, db *tenancy.DB, eventType string, lifecycle bool) (int64, error) {
	return retry(ctx, db, "ignored events "+eventType, `
		WITH retried AS (
			UPDATE public.webhook_events SET status = 'pending', lifecycle = $4, processed_at = NULL, next_attempt_at = now()
			WHERE status = 'ignored' AND event_type = $3 AND tenant_slug IS NOT NULL`+retried, eventType, lifecycle)
}
