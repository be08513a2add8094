package tenancy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// errNothing says that the queue holds no event to apply.
var errNothing = errors.New("no event to apply")

// work applies the tenant's pending events, oldest first, up to and including
// the event upTo. It stops at the first that fails: later events must not
// overtake it. An overriding event is applied alone. It returns errNothing when
// upTo was no longer pending at its turn.
func (in *Inbox) work(ctx context.Context, slug Slug, upTo int64) error {
	leave, err := in.gate.enter(ctx, slug)
	if err != nil {
		return err
	}
	defer leave()
	select {
	case in.slots <- struct{}{}:
		defer func() { <-in.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		id, err := in.step(ctx, slug, upTo)
		if err != nil || id == upTo {
			return err
		}
	}
}

// step applies one event and keeps account of it. The id is zero when not even
// the event could be read.
func (in *Inbox) step(ctx context.Context, slug Slug, upTo int64) (id int64, err error) {
	started := time.Now()
	var e Event
	err = recovered(func() error {
		ctx, cancel := context.WithTimeout(ctx, in.options.AttemptTimeout)
		defer cancel()
		return in.db.transact(ctx, beginLocked(slug), func(tx pgx.Tx) (err error) {
			if e, err = in.next(ctx, tx, slug, upTo); err != nil {
				return err
			}
			return in.apply(ctx, tx, e, started)
		})
	})
	switch {
	case errors.Is(err, errNothing):
		return 0, err
	case e.ID == 0 && sqlState(err) == codeLockTimeout:
		return 0, errBusy
	case err != nil && e.ID != 0:
		in.failed(ctx, e, started, err)
	case err == nil:
		in.log.InfoContext(ctx, "event applied", "event_id", e.ID, "event_type", e.Type,
			"tenant", slug.String(), "attempt", e.Attempt, "took_ms", time.Since(started).Milliseconds())
	}
	return e.ID, err
}

// next reads the event that is due: the oldest pending one of the tenant, or
// upTo itself where that one overrides its elders.
func (in *Inbox) next(ctx context.Context, tx pgx.Tx, slug Slug, upTo int64) (Event, error) {
	e := Event{Tenant: slug}
	err := tx.QueryRow(ctx, `
		SELECT id, event_type, body, received_at, attempts + 1
		FROM public.webhook_events
		WHERE tenant_slug = $1 AND status = 'pending' AND id <= $2
		ORDER BY (id = $2 AND event_type = ANY ($3)) DESC, id
		LIMIT 1`, slug.s, upTo, in.overriding()).Scan(&e.ID, &e.Type, &e.Body, &e.ReceivedAt, &e.Attempt)
	if errors.Is(err, pgx.ErrNoRows) {
		return Event{}, errNothing
	}
	return e, err
}

// apply runs the handler and completes the event in the same transaction.
func (in *Inbox) apply(ctx context.Context, tx pgx.Tx, e Event, started time.Time) error {
	handler, ok := in.handlers[e.Type]
	if !ok {
		return fmt.Errorf("this program has no handler for %s", e.Type)
	}
	void, err := in.whyVoid(ctx, tx, e)
	if err != nil {
		return err
	}
	if void == "" {
		if err := in.call(ctx, tx, handler, e); err != nil {
			return err
		}
	}
	return in.complete(ctx, tx, e, void, started)
}

// call runs the handler on the tenant's schema.
func (in *Inbox) call(ctx context.Context, tx pgx.Tx, handler EventHandler, e Event) error {
	if !handler.NewTenant {
		if err := enterSchema(ctx, tx, e.Tenant); err != nil {
			return err
		}
	}
	if err := handler.Apply(ctx, tx, e); err != nil {
		return err
	}
	if !handler.Overrides {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE public.webhook_events
		SET status = 'done', processed_at = now(), last_error = 'void: overridden by event ' || $2::bigint
		WHERE tenant_slug = $1 AND status = 'pending' AND id < $2`, e.Tenant.s, e.ID)
	return err
}

// enterSchema points the transaction at a tenant that must be there.
func enterSchema(ctx context.Context, tx pgx.Tx, slug Slug) error {
	_, err := tx.Exec(ctx, fmt.Sprintf(`SELECT '%s'::regnamespace; SET LOCAL search_path TO %s, public`, slug.ident(), slug.ident()))
	if sqlState(err) == codeMissingSchema {
		return fmt.Errorf("%s: %w", slug, ErrUnknownTenant)
	}
	return err
}

// whyVoid says why an event must have no effect, or nothing. One is void when
// a later event of its tenant overrode it before it was even stored, and when
// it is a late redelivery of what the tenant's cancellation has ended.
func (in *Inbox) whyVoid(ctx context.Context, tx pgx.Tx, e Event) (string, error) {
	var why string
	err := tx.QueryRow(ctx, `
		SELECT coalesce(
			(SELECT 'void: overridden by event ' || max(n.id) FROM public.webhook_events n
			 WHERE n.tenant_slug = $1 AND n.id > $2 AND n.status = 'done' AND n.event_type = ANY ($3)),
			(SELECT 'void: a redelivery of event ' || min(o.id) || ', from before the tenant was cancelled'
			 FROM public.webhook_events o JOIN public.webhook_events e ON e.id = $2
			 JOIN public.tenants t ON t.slug = $1 AND t.status = 'cancelled'
			 WHERE o.body_sha256 = e.body_sha256 AND o.id < e.id AND o.received_at <= t.cancelled_at),
			'')`, e.Tenant.s, e.ID, in.overriding()).Scan(&why)
	return why, err
}

func (in *Inbox) overriding() []string {
	types := []string{}
	for eventType, h := range in.handlers {
		if h.Overrides {
			types = append(types, eventType)
		}
	}
	return types
}
