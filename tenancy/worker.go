package tenancy

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// cleanEvery is how often finished events and dead sessions are swept.
const cleanEvery = 10 * time.Minute

// Run takes up whatever is stored and not done, from any replica's past, until
// ctx ends. It polls: LISTEN would hear nothing behind a transaction pooler.
func (in *Inbox) Run(ctx context.Context) {
	clean := time.NewTicker(cleanEvery)
	defer clean.Stop()
	poll := time.NewTimer(0)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-clean.C:
			in.sweep(ctx)
		case <-poll.C:
			poll.Reset(in.poll(ctx))
		}
	}
}

// poll starts work on what is due and says when to look again.
func (in *Inbox) poll(ctx context.Context) time.Duration {
	pause := in.options.Poll/2 + rand.N(in.options.Poll)
	free := cap(in.slots) - len(in.slots)
	if free == 0 {
		return pause
	}
	due, err := in.claim(ctx, free)
	if err != nil {
		if ctx.Err() == nil {
			in.log.ErrorContext(ctx, "inbox: cannot look for work", "error", err)
		}
		return pause
	}
	for _, s := range due {
		in.running.Go(func() { in.resume(s) })
	}
	if len(due) == free {
		return in.options.Poll / 10
	}
	return pause
}

func (in *Inbox) resume(s Stored) {
	err := in.work(in.base, s.Tenant, s.ID)
	if err != nil && !errors.Is(err, context.Canceled) {
		in.log.Debug("event stays pending", "event_id", s.ID, "tenant", s.Tenant.String(), "error", err)
	}
}

// claim takes due events that are first in their tenant's queue, or that
// override it, and puts their next turn off by the lease, so that no other
// replica takes them too. A claim is not a promise: the tenant's lock is what
// keeps two from applying one event.
func (in *Inbox) claim(ctx context.Context, limit int) ([]Stored, error) {
	rows, err := in.db.pool.Query(ctx, `
		UPDATE public.webhook_events SET next_attempt_at = now() + make_interval(secs => $3)
		WHERE id IN (
			SELECT e.id FROM public.webhook_events e
			WHERE e.status = 'pending' AND e.next_attempt_at <= now()
				AND (e.event_type = ANY ($1) OR NOT EXISTS (
					SELECT FROM public.webhook_events o
					WHERE o.tenant_slug = e.tenant_slug AND o.status = 'pending' AND o.id < e.id))
			ORDER BY e.next_attempt_at
			LIMIT $2
			FOR UPDATE SKIP LOCKED)
		RETURNING id, tenant_slug`, in.overriding(), limit, in.options.Lease.Seconds())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var due []Stored
	for rows.Next() {
		var s Stored
		if err := rows.Scan(&s.ID, &s.Tenant.s); err != nil {
			return nil, err
		}
		due = append(due, s)
	}
	return due, rows.Err()
}

// sweepBatch bounds one DELETE, and with it its locks and its WAL.
const sweepBatch = 1000

// sweep deletes finished events past their retention and sessions past their
// life, in batches.
func (in *Inbox) sweep(ctx context.Context) {
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{`DELETE FROM public.webhook_events WHERE id IN (
			SELECT id FROM public.webhook_events
			WHERE status IN ('done', 'ignored') AND processed_at < now() - make_interval(secs => $2)
			LIMIT $1)`, []any{sweepBatch, in.options.Retention.Seconds()}},
		{`DELETE FROM public.sessions WHERE id IN (
			SELECT id FROM public.sessions WHERE expires_at < now() LIMIT $1)`, []any{sweepBatch}},
	} {
		for deleted := int64(sweepBatch); deleted == sweepBatch && ctx.Err() == nil; {
			tag, err := in.db.pool.Exec(ctx, q.sql, q.args...)
			if err != nil {
				in.log.ErrorContext(ctx, "sweep failed", "error", err)
				break
			}
			deleted = tag.RowsAffected()
		}
	}
}
