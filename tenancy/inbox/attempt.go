package inbox

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// errUnclaimed says that the tenant's next event is not claimed by this process.
var errUnclaimed = errors.New("the event is not claimed")

// attempt is one try at one event.
type attempt struct {
	event              Event
	lifecycle, claimed bool
	version            int64 // of the tenant's schema; -1: the tenant is unknown
	schemaExists       bool
	superseded         int64 // a later lifecycle event that is done; 0: none
	began              time.Time
	nextClaimed        bool // the completion has claimed the tenant's next event
	end                ending
}

// attempt applies the tenant's next event and completes it, in one transaction
// under the tenant's lock. It returns errUnclaimed, pgx.ErrNoRows where nothing
// is pending, tenancy.ErrBusy, or the error of the attempt.
func (in *Inbox) attempt(slug tenancy.Slug) (a attempt, err error) {
	ctx, cancel := in.attemptContext()
	defer cancel()
	a.began = time.Now()
	err = in.system.TryTenant(ctx, slug, `
		SELECT e.id, e.event_type, e.body, e.received_at, e.attempts, e.lifecycle, coalesce(e.claimed_by = $2, false),
			coalesce((SELECT schema_version FROM public.tenants WHERE slug = $1), -1), to_regnamespace(quote_ident($3)) IS NOT NULL,
			coalesce((SELECT l.id FROM public.webhook_events l
				WHERE e.lifecycle AND l.lifecycle AND l.status = 'done' AND (l.tenant_slug, l.id) BETWEEN ($1, e.id + 1) AND ($1, 9223372036854775807)
				ORDER BY l.tenant_slug, l.id LIMIT 1), 0)
		FROM public.webhook_events e WHERE e.status = 'pending' AND e.id = `+head,
		[]any{slug.String(), in.self, slug.Schema()},
		func(row pgx.Row) error { return a.scan(row, slug) },
		func(tx pgx.Tx) error { return in.perform(ctx, tx, &a) })
	if err == nil {
		in.log.InfoContext(ctx, "event applied", "event_id", a.event.ID, "event_type", a.event.Type, "tenant", slug.String(),
			"attempt", a.event.Attempt, "took_ms", time.Since(a.began).Milliseconds(), "superseded_by", a.superseded)
	}
	return a, err
}

func (a *attempt) scan(row pgx.Row, slug tenancy.Slug) error {
	e := Event{Tenant: slug}
	err := row.Scan(&e.ID, &e.Type, &e.Body, &e.ReceivedAt, &e.Attempt, &a.lifecycle, &a.claimed,
		&a.version, &a.schemaExists, &a.superseded)
	if err == nil && !a.claimed {
		return errUnclaimed
	}
	a.event = e
	return err
}

// perform runs the handler, unless the event is void, and completes the event.
func (in *Inbox) perform(ctx context.Context, tx pgx.Tx, a *attempt) error {
	if a.superseded == 0 {
		if err := in.call(ctx, tx, a); err != nil {
			return err
		}
	}
	return in.complete(ctx, tx, a)
}

func (in *Inbox) call(ctx context.Context, tx pgx.Tx, a *attempt) error {
	if !a.lifecycle {
		if err := in.system.Enter(ctx, tx, a.event.Tenant, a.version, a.schemaExists); err != nil {
			return err
		}
	}
	err := recovered(func() error {
		defer in.logPanic(ctx, a.event)
		return in.handlers[a.event.Type].Apply(ctx, tx, a.event)
	})
	if tx.Conn().PgConn().TxStatus() == 'I' {
		return errors.Join(errEnded, err)
	}
	return err
}

// logPanic logs where a handler panicked, and lets it go on.
func (in *Inbox) logPanic(ctx context.Context, e Event) {
	if p := recover(); p != nil {
		in.log.ErrorContext(ctx, "an event handler panicked", "event_id", e.ID, "event_type", e.Type, "panic", p, "stack", string(debug.Stack()))
		panic(p)
	}
}

// complete marks the event as done, in the transaction of its effect, and
// claims the tenant's next event, in one message. A lifecycle event makes older
// ones void, and the event behind it due: it may have waited for the tenant.
func (in *Inbox) complete(ctx context.Context, tx pgx.Tx, a *attempt) error {
	void, slug := "", a.event.Tenant
	if a.superseded != 0 {
		void = voidBy(a.superseded)
	}
	batch := &pgx.Batch{}
	batch.Queue(`
		WITH done AS (
			UPDATE public.webhook_events SET status = 'done', claimed_by = NULL, processed_at = clock_timestamp(),
				last_error = nullif($3, ''), answered = answered OR $3 = '' OR id = ANY ($4)
			WHERE id = $1 AND status = 'pending' AND `+tenancy.Held+` RETURNING id, attempts
		)
		INSERT INTO public.webhook_attempts (event_id, attempt, started_at, seconds, error)
		SELECT id, attempts, clock_timestamp() - make_interval(secs => $2), $2, nullif($3, '') FROM done`,
		a.event.ID, time.Since(a.began).Seconds(), void, in.answeredIDs())
	batch.Queue(`
		UPDATE public.webhook_events SET status = 'done', claimed_by = NULL, processed_at = clock_timestamp(),
			last_error = $3, answered = answered OR id = ANY ($4)
		WHERE $5 AND status = 'pending' AND lifecycle AND (tenant_slug, id) BETWEEN ($1, 0) AND ($1, $2 - 1) AND `+tenancy.Held,
		slug.String(), a.event.ID, voidBy(a.event.ID), in.answeredIDs(), a.lifecycle)
	batch.Queue(claimSQL, in.claimArgs(slug, in.quick, a.lifecycle)...)
	results := tx.SendBatch(ctx, batch)
	done, err := results.Exec()
	if err == nil {
		_, err = results.Exec()
	}
	if err == nil {
		a.nextClaimed, _, a.end, err = in.scanClaim(results.QueryRow(), slug)
	}
	if err == nil && done.RowsAffected() == 0 {
		err = errEnded
	}
	if a.end == blocked {
		a.end = goesOn // it may be a slow one: have claim see
	}
	return errors.Join(err, results.Close())
}
