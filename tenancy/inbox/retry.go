package inbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// Errors of Retry and Ignore.
var (
	ErrNotRetryable = errors.New("the event cannot be tried again")
	ErrNotFailed    = errors.New("the event has not failed")
)

// recorded has what a statement, "WITH changed AS (UPDATE …", does to events in
// the audit log, and counts them by tenant. $1 is who asked, $2 the action and $3
// says which events it is for.
const recorded = `
	RETURNING tenant_slug), counted AS (
		SELECT tenant_slug, count(*) AS n FROM changed GROUP BY tenant_slug), recorded AS (
		INSERT INTO public.audit_log (actor, action, tenant_slug, detail) SELECT $1, $2, tenant_slug, $3 || ': ' || n FROM counted)
	SELECT coalesce(tenant_slug, ''), n FROM counted`

// again begins the count of attempts anew; their history stays. An event that is
// being tried is left alone.
const again = `
	WITH changed AS (
		UPDATE public.webhook_events SET status = 'pending', processed_at = NULL, claimed_by = NULL, next_attempt_at = now(),
			attempts = CASE WHEN status = 'pending' THEN attempts ELSE 0 END
		WHERE tenant_slug IS NOT NULL AND status <> 'done' AND (claimed_by IS NULL OR next_attempt_at <= now())`

// change runs a statement that ends in recorded, and returns how many events it
// has changed.
func change(ctx context.Context, db *tenancy.DB, action, what, sql string, args ...any) (n int64, err error) {
	rows, _ := db.System().Query(ctx, sql, append([]any{tenancy.Actor(ctx), action, what}, args...)...)
	counted, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
		Tenant string
		N      int64
	}])
	for _, c := range counted {
		slug, _ := tenancy.ParseSlug(c.Tenant) // it was stored as one, or there is none
		db.System().Told(ctx, action, slug, fmt.Sprintf("%s: %d", what, c.N))
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
	n, err := change(ctx, db, tenancy.AuditRetry, fmt.Sprintf("event %d", id), again+` AND id = $4`+recorded, id)
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
	return change(ctx, db, tenancy.AuditRetry, "failed events", again+` AND status = 'failed'`+recorded)
}

// RetryIgnored is Retry for every ignored event of a type, for a handler that
// came after them. lifecycle is what that handler says.
func RetryIgnored(ctx context.Context, db *tenancy.DB, eventType string, lifecycle bool) (int64, error) {
	return change(ctx, db, tenancy.AuditRetry, "ignored events "+eventType, `
		WITH changed AS (
			UPDATE public.webhook_events SET status = 'pending', lifecycle = $5, processed_at = NULL, next_attempt_at = now()
			WHERE status = 'ignored' AND event_type = $4 AND tenant_slug IS NOT NULL`+recorded, eventType, lifecycle)
}

// Ignore has a failed event, which is not to be applied any more, kept as an
// ignored one: it is deleted in its time, and Retry can still have it tried. It
// returns ErrUnknownEvent or ErrNotFailed.
func Ignore(ctx context.Context, db *tenancy.DB, id int64) error {
	n, err := change(ctx, db, tenancy.AuditIgnore, fmt.Sprintf("event %d", id), `
		WITH changed AS (
			UPDATE public.webhook_events SET status = 'ignored', processed_at = now()
			WHERE status = 'failed' AND id = $4`+recorded, id)
	if err != nil || n > 0 {
		return err
	}
	e, _, err := Show(ctx, db, id)
	if err != nil {
		return err
	}
	return fmt.Errorf("event %d: %w: it is %s", id, ErrNotFailed, e.Status)
}
