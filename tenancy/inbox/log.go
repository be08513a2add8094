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

// ErrUnknownEvent says that there is no event of that id.
var ErrUnknownEvent = errors.New("no such event")

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
