package tenancy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// EventRecord is a row of public.webhook_events without its body; in JSON its
// fields have the columns' names.
type EventRecord struct {
	ID            int64      `json:"id"`
	EventType     string     `json:"event_type"`
	TenantSlug    *string    `json:"tenant_slug"` // nil: the event names none that could be
	Status        string     `json:"status"`
	Attempts      int        `json:"attempts"`
	LastError     *string    `json:"last_error"`
	SignedWith    string     `json:"signed_with"` // "current" or "previous", when it was stored
	ReceivedAt    time.Time  `json:"received_at"`
	NextAttemptAt time.Time  `json:"next_attempt_at"` // says something of pending ones alone
	StartedAt     *time.Time `json:"started_at"`
	ProcessedAt   *time.Time `json:"processed_at"`
}

// EventAttempt is a row of public.webhook_attempts.
type EventAttempt struct {
	Attempt   int
	StartedAt time.Time
	Seconds   float64
	Error     string // empty: it succeeded
}

// Errors of the inbox's keeper.
var (
	ErrUnknownEvent = errors.New("no such event")
	ErrNotRetryable = errors.New("the event cannot be tried again")
)

const eventColumns = `id, event_type, tenant_slug, status, attempts, last_error, signed_with,
	received_at, next_attempt_at, started_at, processed_at`

func (e *EventRecord) fields() []any {
	return []any{&e.ID, &e.EventType, &e.TenantSlug, &e.Status, &e.Attempts, &e.LastError, &e.SignedWith,
		&e.ReceivedAt, &e.NextAttemptAt, &e.StartedAt, &e.ProcessedAt}
}

// Events lists up to limit events, newest first; with a status only those.
func (db *DB) Events(ctx context.Context, status string, limit int) ([]EventRecord, error) {
	rows, err := db.pool.Query(ctx, `
		SELECT `+eventColumns+` FROM public.webhook_events
		WHERE $1 = '' OR status = $1 ORDER BY id DESC LIMIT $2`, status, limit)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	events, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e EventRecord, err error) {
		err = row.Scan(e.fields()...)
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	return events, nil
}

// PreviousSecretUsed returns when an event last came that the previous secret
// had signed; nil when none is kept.
func (db *DB) PreviousSecretUsed(ctx context.Context) (last *time.Time, err error) {
	err = db.pool.QueryRow(ctx, `
		SELECT received_at FROM public.webhook_events WHERE signed_with = 'previous' ORDER BY id DESC LIMIT 1`).Scan(&last)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("last use of the previous secret: %w", err)
	}
	return last, nil
}

// Event returns an event, its raw body and what was tried for it, oldest first.
// It returns ErrUnknownEvent.
func (db *DB) Event(ctx context.Context, id int64) (e EventRecord, body []byte, attempts []EventAttempt, err error) {
	err = db.pool.QueryRow(ctx, `SELECT `+eventColumns+`, body FROM public.webhook_events WHERE id = $1`, id).
		Scan(append(e.fields(), &body)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return e, nil, nil, fmt.Errorf("event %d: %w", id, ErrUnknownEvent)
	}
	if err != nil {
		return e, nil, nil, fmt.Errorf("event %d: %w", id, err)
	}
	rows, err := db.pool.Query(ctx, `
		SELECT attempt, started_at, seconds, coalesce(error, '') FROM public.webhook_attempts WHERE event_id = $1 ORDER BY id`, id)
	if err != nil {
		return e, nil, nil, fmt.Errorf("attempts at event %d: %w", id, err)
	}
	attempts, err = pgx.CollectRows(rows, pgx.RowToStructByPos[EventAttempt])
	if err != nil {
		return e, nil, nil, fmt.Errorf("attempts at event %d: %w", id, err)
	}
	return e, body, attempts, nil
}
