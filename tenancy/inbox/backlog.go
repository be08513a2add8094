package inbox

import (
	"context"
	"fmt"
	"time"

	"example.com/subproduct/tenancy"
)

// Backlog is what an inbox still has to do.
type Backlog struct {
	Pending, Failed int
	Oldest          time.Duration // since the first of the pending came; 0: none is
}

// ReadBacklog counts, on the indexes of pending and of failed events alone.
func ReadBacklog(ctx context.Context, db *tenancy.DB) (b Backlog, err error) {
	var seconds float64
	err = db.System().QueryRow(ctx, `
		SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(received_at)), 0)::float8,
			(SELECT count(*) FROM public.webhook_events WHERE status = 'failed')
		FROM public.webhook_events WHERE status = 'pending'`).Scan(&b.Pending, &seconds, &b.Failed)
	if err != nil {
		return b, fmt.Errorf("backlog: %w", err)
	}
	b.Oldest = time.Duration(seconds * float64(time.Second))
	return b, nil
}
