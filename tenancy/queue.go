package tenancy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Why an event was not tried.
var (
	errNothing = errors.New("nothing to work on")
	errBehind  = errors.New("an older event of the tenant comes first")
	errUntried = errors.New("not tried")
)

// An attempt that has to wait keeps neither slot nor connection from other
// tenants for longer than lockWait, and looks again after lookAgain.
const (
	lockWait  = 250 * time.Millisecond
	lookAgain = 50 * time.Millisecond
)

// job is an event to be applied when its tenant's older ones are.
type job struct {
	slug Slug
	id   int64
	// marked says that the attempt is on record (started_at) and this job's. A
	// job without waits for whoever has it.
	marked bool
	until  time.Time // how long to wait for the turn
}

// work applies the event when it is its turn. It returns nil when that was done
// here, errNothing when the event is finished already, and errBusy, errBehind or
// errUntried when no attempt was made, which is then off the record: the worker
// will see to it. Any other error is that of the attempt.
func (in *Inbox) work(j job) error {
	for {
		err := in.turn(j)
		if errors.Is(err, errBusy) && in.base.Err() == nil && time.Now().Before(j.until) {
			time.Sleep(lookAgain)
			continue
		}
		if j.marked && (errors.Is(err, errBusy) || errors.Is(err, errBehind) || errors.Is(err, errUntried)) {
			in.release(j.id)
		}
		return err
	}
}

// turn makes one attempt, unless somebody else is in the way, and keeps account
// of it.
func (in *Inbox) turn(j job) error {
	leave, err := in.enter(j)
	if err != nil {
		return err
	}
	defer leave()
	started := time.Now()
	tried, void := Event{}, ""
	err = recovered(func() error {
		ctx, cancel := context.WithTimeout(in.base, in.options.AttemptTimeout)
		defer cancel()
		begin := beginLockedWithin(j.slug, lockWait.String())
		return in.db.transact(ctx, begin, func(tx pgx.Tx) error {
			e, err := in.next(ctx, tx, j)
			if err != nil {
				return err
			}
			tried = e
			void, err = in.apply(ctx, tx, e, started)
			return err
		})
	})
	switch {
	case err == nil:
		in.log.InfoContext(in.base, "event applied", "event_id", tried.ID, "event_type", tried.Type, "tenant", j.slug.String(),
			"attempt", tried.Attempt, "took_ms", time.Since(started).Milliseconds(), "void", void)
	case tried.ID == 0 && sqlState(err) == codeLockTimeout:
		return errBusy
	case errors.Is(err, errNothing) || errors.Is(err, errBehind) || errors.Is(err, errBusy):
		return err
	case tried.ID == 0 || in.base.Err() != nil:
		return fmt.Errorf("%w: %w", errUntried, err)
	default:
		in.failed(tried, started, err)
	}
	return err
}

// enter waits for the tenant's turn in this process, and for a slot.
func (in *Inbox) enter(j job) (leave func(), err error) {
	ctx, cancel := context.WithDeadline(in.base, j.until)
	defer cancel()
	leaveGate, err := in.gate.enter(ctx, j.slug, j.id)
	if err != nil {
		return nil, errBusy
	}
	select {
	case in.slots <- struct{}{}:
		return func() { <-in.slots; leaveGate() }, nil
	case <-ctx.Done():
		leaveGate()
		return nil, errBusy
	}
}

// next reads the job's event if it is its turn: it is the oldest, or overrides
// its elders, or, while the tenant has no schema, is the oldest that could make
// it. It returns errBusy while an attempt at the one in front is on record.
func (in *Inbox) next(ctx context.Context, tx pgx.Tx, j job) (Event, error) {
	e := Event{Tenant: j.slug}
	var marked bool
	err := tx.QueryRow(ctx, `
		SELECT id, event_type, body, received_at, attempts + 1, started_at IS NOT NULL
		FROM public.webhook_events
		WHERE status = 'pending' AND id = coalesce(
			(SELECT id FROM public.webhook_events WHERE id = $2 AND (event_type = ANY ($3) OR status <> 'pending')),
			(SELECT min(id) FROM public.webhook_events
			 WHERE tenant_slug = $1 AND status = 'pending' AND id <= $2
				AND event_type = ANY ($4) AND to_regnamespace($5) IS NULL),
			(SELECT min(id) FROM public.webhook_events WHERE tenant_slug = $1 AND status = 'pending' AND id <= $2))`,
		j.slug.s, j.id, in.types(overrides), in.types(newTenant), j.slug.ident()).
		Scan(&e.ID, &e.Type, &e.Body, &e.ReceivedAt, &e.Attempt, &marked)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Event{}, errNothing
	case err != nil || e.ID == j.id && j.marked:
		return e, err
	case marked:
		return Event{}, errBusy
	}
	return Event{}, errBehind
}

// release takes an attempt that was not made off the record, else it would
// count as one that ended with its process, and lets the worker have the event.
func (in *Inbox) release(id int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.base), accountTimeout)
	defer cancel()
	_, err := in.db.pool.Exec(ctx, `
		UPDATE public.webhook_events SET started_at = NULL, next_attempt_at = now()
		WHERE id = $1 AND status = 'pending'`, id)
	if err != nil {
		in.log.DebugContext(ctx, "event not released", "event_id", id, "error", err)
	}
}
