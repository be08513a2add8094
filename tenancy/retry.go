package tenancy

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// RetryEvent has the worker try a failed event again at once, with as many
// attempts as a new one has; a pending event does not wait for its next attempt
// any longer. An ignored one is tried too: its type may have got a handler. What
// a later event of the tenant has overridden stays void. It returns
// ErrUnknownEvent, or ErrNotRetryable for one that is done, or that names no
// tenant.
func (db *DB) RetryEvent(ctx context.Context, id int64) error {
	var status string
	var hasTenant, retried bool
	err := db.pool.QueryRow(ctx, `
		WITH retried AS (`+retry+` AND id = $1 AND status <> 'done' RETURNING id)
		SELECT status, tenant_slug IS NOT NULL, EXISTS (SELECT FROM retried)
		FROM public.webhook_events WHERE id = $1`, id).Scan(&status, &hasTenant, &retried)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("event %d: %w", id, ErrUnknownEvent)
	case err != nil:
		return fmt.Errorf("retry event %d: %w", id, err)
	case !hasTenant:
		return fmt.Errorf("event %d: %w: it names no tenant; see WEBHOOK_TENANT_FIELDS, then have the platform send it again", id, ErrNotRetryable)
	case !retried:
		return fmt.Errorf("event %d: %w: it is %s", id, ErrNotRetryable, status)
	}
	return nil
}

// RetryFailedEvents is RetryEvent for every failed event that names a tenant,
// and returns how many those are.
func (db *DB) RetryFailedEvents(ctx context.Context) (int64, error) {
	tag, err := db.pool.Exec(ctx, retry+` AND status = 'failed'`)
	if err != nil {
		return 0, fmt.Errorf("retry failed events: %w", err)
	}
	return tag.RowsAffected(), nil
}

// retry begins the count of attempts anew; their history stays.
const retry = `
	UPDATE public.webhook_events SET status = 'pending', processed_at = NULL, next_attempt_at = now(),
		attempts = CASE WHEN status = 'pending' THEN attempts ELSE 0 END
	WHERE tenant_slug IS NOT NULL`
