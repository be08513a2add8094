package tenancy

import (
	"context"
	"time"
)

const (
	// sweepEvery is how often finished events and dead sessions are swept.
	sweepEvery = 10 * time.Minute
	// sweepBatch bounds one DELETE, and with it its locks and its WAL.
	sweepBatch = 1000
)

func (in *Inbox) keepSweeping(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			in.sweep(ctx)
		}
	}
}

// sweep deletes finished events past their retention and sessions past their
// life, in batches. Failed events stay: a person has to see them.
func (in *Inbox) sweep(ctx context.Context) {
	in.deleteBatches(ctx, `DELETE FROM public.webhook_events WHERE id IN (
		SELECT id FROM public.webhook_events
		WHERE status IN ('done', 'ignored') AND processed_at < now() - make_interval(secs => $2)
		LIMIT $1 FOR UPDATE SKIP LOCKED)`, sweepBatch, in.options.Retention.Seconds())
	in.deleteBatches(ctx, `DELETE FROM public.sessions WHERE id IN (
		SELECT id FROM public.sessions WHERE expires_at < now() LIMIT $1 FOR UPDATE SKIP LOCKED)`, sweepBatch)
}

func (in *Inbox) deleteBatches(ctx context.Context, sql string, args ...any) {
	for ctx.Err() == nil {
		deleted, err := in.db.pool.Exec(ctx, sql, args...)
		if err != nil {
			in.log.ErrorContext(ctx, "sweep failed", "error", err)
			return
		}
		if deleted.RowsAffected() < sweepBatch {
			return
		}
	}
}
