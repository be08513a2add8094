package tenancy

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"
)

// apply runs the handler and completes the event in the same transaction. It
// returns why the event had no effect, where it had none.
func (in *Inbox) apply(ctx context.Context, tx pgx.Tx, e Event, started time.Time) (void string, err error) {
	handler, ok := in.handlers[e.Type]
	if !ok {
		return "", fmt.Errorf("this program has no handler for %s", e.Type)
	}
	if void, err = in.whyVoid(ctx, tx, e); err != nil {
		return "", err
	}
	if void == "" {
		if err := in.call(ctx, tx, handler, e); err != nil {
			return "", err
		}
	}
	return void, complete(ctx, tx, e, void, started)
}

// call runs the handler on the tenant's schema.
func (in *Inbox) call(ctx context.Context, tx pgx.Tx, handler EventHandler, e Event) error {
	defer in.logPanic(ctx, e)
	if err := in.applyOnTenant(ctx, tx, handler, e); err != nil || !handler.Overrides {
		return err
	}
	_, err := tx.Exec(ctx, `
		UPDATE public.webhook_events
		SET status = 'done', started_at = NULL, processed_at = clock_timestamp(), last_error = 'void: overridden by event ' || $2::bigint
		WHERE tenant_slug = $1 AND status = 'pending' AND id < $2`, e.Tenant.s, e.ID)
	return err
}

// logPanic logs where a handler panicked, and lets it go on.
func (in *Inbox) logPanic(ctx context.Context, e Event) {
	if p := recover(); p != nil {
		in.log.ErrorContext(ctx, "an event handler panicked", "event_id", e.ID, "event_type", e.Type, "panic", p, "stack", string(debug.Stack()))
		panic(p)
	}
}
