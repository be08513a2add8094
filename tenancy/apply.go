package tenancy

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"
)

// errNothing says that the queue holds nothing to work on.
var errNothing = errors.New("nothing to work on")

// errBehind says that an older event of the tenant is in front, and has to be
// tried again first.
var errBehind = errors.New("an older event of the tenant is in front")

// lockWait bounds one wait for a tenant that another process works on. Whoever
// waits keeps a slot and a connection from other tenants.
const lockWait = 250 * time.Millisecond

// job is an event to be applied, after those of its tenant that come first.
type job struct {
	slug    Slug
	id      int64
	claimed bool      // by the worker: an attempt is due and on record
	until   time.Time // how long to wait for a tenant that is busy elsewhere
}

// work applies the tenant's pending events, oldest first, up to and including
// the job's. It stops at the first that fails: later events must not overtake
// it. An overriding event is applied alone. It returns errNothing when the
// event was no longer pending at its turn, errBehind when it had no turn yet,
// and errBusy when another process kept the tenant to itself.
func (in *Inbox) work(j job) error {
	leave, err := in.gate.enter(in.base, j.slug)
	if err != nil {
		return err
	}
	defer leave()
	for {
		id, err := in.turn(j)
		switch {
		case errors.Is(err, errBusy) && time.Now().Before(j.until):
		case err != nil && id != 0 && id != j.id:
			return errBehind
		case err != nil || id == j.id:
			return err
		}
	}
}

// turn applies one event and keeps account of it. The id is zero when no event
// was tried.
func (in *Inbox) turn(j job) (id int64, err error) {
	select {
	case in.slots <- struct{}{}:
		defer func() { <-in.slots }()
	case <-in.base.Done():
		return 0, in.base.Err()
	}
	started := time.Now()
	var e Event
	err = recovered(func() error {
		ctx, cancel := context.WithTimeout(in.base, in.options.AttemptTimeout)
		defer cancel()
		begin := beginLockedWithin(j.slug, lockWait.String())
		return in.db.transact(ctx, begin, func(tx pgx.Tx) (err error) {
			if e, err = in.next(ctx, tx, j); err != nil {
				return err
			}
			return in.apply(ctx, tx, e, started)
		})
	})
	switch {
	case e.ID == 0 && sqlState(err) == codeLockTimeout:
		return 0, errBusy
	case e.ID != 0 && err != nil && in.base.Err() == nil:
		in.failed(e, started, err)
	}
	return e.ID, err
}

// next reads the event whose turn it is: the job's own where that one overrides
// its elders, else the oldest; while the tenant has no schema, the oldest that
// could make it. An older event that was tried before is left to the worker, or
// every delivery would be one more attempt at it.
func (in *Inbox) next(ctx context.Context, tx pgx.Tx, j job) (Event, error) {
	e := Event{Tenant: j.slug}
	var unfinished bool
	err := tx.QueryRow(ctx, `
		SELECT id, event_type, body, received_at, attempts + 1, started_at IS NOT NULL
		FROM public.webhook_events
		WHERE status = 'pending' AND id = coalesce(
			(SELECT id FROM public.webhook_events WHERE id = $2 AND event_type = ANY ($3)),
			(SELECT min(id) FROM public.webhook_events
			 WHERE tenant_slug = $1 AND status = 'pending' AND id <= $2
				AND event_type = ANY ($4) AND to_regnamespace($5) IS NULL),
			(SELECT min(id) FROM public.webhook_events WHERE tenant_slug = $1 AND status = 'pending' AND id <= $2))`,
		j.slug.s, j.id, in.types(overrides), in.types(newTenant), j.slug.ident()).
		Scan(&e.ID, &e.Type, &e.Body, &e.ReceivedAt, &e.Attempt, &unfinished)
	if errors.Is(err, pgx.ErrNoRows) {
		return Event{}, errNothing
	}
	own := e.ID == j.id
	if err == nil && (own && unfinished && !j.claimed || !own && (unfinished || e.Attempt > 1)) {
		return Event{}, errBehind
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
	defer in.logPanic(ctx, e)
	if !handler.NewTenant {
		if err := enterSchema(ctx, tx, e.Tenant); err != nil {
			return err
		}
	}
	if err := handler.Apply(ctx, tx, e); err != nil || !handler.Overrides {
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

// enterSchema points the transaction at a tenant that must be there.
func enterSchema(ctx context.Context, tx pgx.Tx, slug Slug) error {
	_, err := tx.Exec(ctx, fmt.Sprintf(`SELECT '%s'::regnamespace; SET LOCAL search_path TO %s, public`, slug.ident(), slug.ident()))
	if sqlState(err) == codeMissingSchema {
		return fmt.Errorf("%s: %w", slug, ErrUnknownTenant)
	}
	return err
}
