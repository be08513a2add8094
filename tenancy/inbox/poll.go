package inbox

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// Run takes up whatever is stored and due, from any replica's past, until ctx
// ends. From then on a delivery is still applied while it waits, and everything
// else is left to other replicas. It polls: LISTEN would hear nothing behind a
// transaction pooler.
func (in *Inbox) Run(ctx context.Context) {
	defer in.leave()
	poll := time.NewTimer(0)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
			poll.Reset(in.poll(ctx))
		}
	}
}

// poll drains tenants whose next event is due, as many as slots are free, and
// says when to look again.
func (in *Inbox) poll(ctx context.Context) time.Duration {
	pause := in.options.Poll/2 + rand.N(in.options.Poll)
	free := cap(in.slots) - len(in.slots)
	if free == 0 {
		return pause
	}
	due, err := in.due(ctx, in.after, free)
	if err != nil {
		if ctx.Err() == nil {
			in.log.ErrorContext(ctx, "inbox: cannot look for work", "error", err)
		}
		return pause
	}
	in.after = ""
	for _, name := range due {
		if slug, err := tenancy.ParseSlug(name); err == nil {
			in.drain(slug, 0)
		}
	}
	if len(due) == free { // there may be more: go on behind these
		in.after = due[free-1]
		return in.options.Poll / 10
	}
	return pause
}

// due lists up to limit tenants behind after, in order, whose next event is due,
// or claimed by this process and not tried, and has a handler here. It visits
// each tenant that has pending events once, by the index, however many of them
// wait.
func (in *Inbox) due(ctx context.Context, after string, limit int) ([]string, error) {
	rows, _ := in.system.Query(ctx, dueSQL, after, in.known, limit, in.self)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

const dueSQL = `
	WITH RECURSIVE tenant AS (
		(SELECT tenant_slug, id FROM public.webhook_events
		 WHERE status = 'pending' AND tenant_slug > $1 ORDER BY tenant_slug, id LIMIT 1)
		UNION ALL
		SELECT next.tenant_slug, next.id FROM tenant CROSS JOIN LATERAL (
			SELECT e.tenant_slug, e.id FROM public.webhook_events e
			WHERE e.status = 'pending' AND e.tenant_slug > tenant.tenant_slug ORDER BY e.tenant_slug, e.id LIMIT 1) next
	)
	SELECT tenant.tenant_slug
	FROM tenant LEFT JOIN LATERAL (
		SELECT l.tenant_slug, l.id FROM public.webhook_events l
		WHERE l.status = 'pending' AND l.lifecycle AND (l.tenant_slug, l.id) BETWEEN (tenant.tenant_slug, 0) AND (tenant.tenant_slug, 9223372036854775807)
		ORDER BY l.tenant_slug DESC, l.id DESC LIMIT 1) newest ON newest.tenant_slug = tenant.tenant_slug
	JOIN public.webhook_events e ON e.id = coalesce(newest.id, tenant.id)
	WHERE (e.next_attempt_at <= now() OR e.claimed_by = $4) AND e.event_type = ANY ($2)
	LIMIT $3`

// Sweep deletes finished events past their retention. Failed events stay: a
// person has to see them.
func (in *Inbox) Sweep(ctx context.Context) error {
	return in.system.DeleteBatches(ctx, `DELETE FROM public.webhook_events WHERE id IN (
		SELECT id FROM public.webhook_events
		WHERE status IN ('done', 'ignored') AND processed_at < now() - make_interval(secs => $2)
		LIMIT $1 FOR UPDATE SKIP LOCKED)`, in.options.Retention.Seconds())
}
