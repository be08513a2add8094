package inbox

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/panics"
)

// attempt is one try at a tenant's next event, or the claim before it.
type attempt struct {
	event          Event
	drain          *drain
	lifecycle      bool
	claimed, taken bool  // by this process, by another
	version        int64 // of the tenant's schema; -1: the tenant is unknown
	schemaExists   bool
	superseded     int64 // a later lifecycle event that is done; 0: none
	began          time.Time
	applied        bool
	end            ending
}

// attempt claims the tenant's next event or, where it is claimed by this
// process, applies and completes it, in one transaction under the tenant's lock.
// It returns pgx.ErrNoRows where nothing is pending, tenancy.ErrBusy, or the
// error of the attempt.
func (in *Inbox) attempt(slug tenancy.Slug, d *drain) (a attempt, err error) {
	ctx, cancel := context.WithTimeout(in.base, in.options.AttemptTimeout)
	defer cancel()
	ctx = tenancy.WithTenant(ctx, tenancy.Tenant{Slug: slug, Status: tenancy.Active, SchemaVersion: in.system.LatestVersion()})
	a.began, a.event.Tenant, a.drain = time.Now(), slug, d
	e := &a.event
	err = in.system.TryTenant(ctx, slug, `
		SELECT e.id, e.event_type, e.body, e.received_at, e.attempts, e.lifecycle,
			coalesce(e.claimed_by = $2, false), coalesce(e.claimed_by <> $2 AND e.next_attempt_at > now(), false),
			coalesce((SELECT schema_version FROM public.tenants WHERE slug = $1), -1), to_regnamespace(quote_ident($3)) IS NOT NULL,
			coalesce((SELECT l.id FROM public.webhook_events l
				WHERE e.lifecycle AND l.lifecycle AND l.status = 'done' AND (l.tenant_slug, l.id) BETWEEN ($1, e.id + 1) AND ($1, 9223372036854775807)
				ORDER BY l.tenant_slug, l.id LIMIT 1), 0)
		FROM public.webhook_events e WHERE e.status = 'pending' AND e.id = `+head,
		[]any{slug.String(), in.self, slug.Schema()},
		func(row pgx.Row) error {
			return row.Scan(&e.ID, &e.Type, &e.Body, &e.ReceivedAt, &e.Attempt, &a.lifecycle, &a.claimed, &a.taken,
				&a.version, &a.schemaExists, &a.superseded)
		},
		func(tx pgx.Tx) error { return in.perform(ctx, tx, &a) })
	if a.applied = err == nil && a.claimed && a.end != busy; a.applied {
		in.log.InfoContext(ctx, "event applied", "event_id", e.ID, "event_type", e.Type, "tenant", slug.String(),
			"attempt", e.Attempt, "took_ms", time.Since(a.began).Milliseconds(), "superseded_by", a.superseded)
		if a.superseded == 0 {
			in.told(ctx, e.Type, slug)
		}
	}
	return a, err
}

func (in *Inbox) perform(ctx context.Context, tx pgx.Tx, a *attempt) (err error) {
	if a.taken {
		return tenancy.ErrBusy
	}
	switch {
	case !a.claimed && in.leaves(a.drain, 0):
		a.end = left
		return nil
	case !a.claimed:
		a.end, err = in.scanClaim(tx.QueryRow(ctx, claimSQL, in.claimArgs(a.event.Tenant, false)...))
		return err
	}
	handler := in.handlers[a.event.Type]
	if handler.Slow {
		select {
		case in.slow <- struct{}{}:
			defer func() { <-in.slow }()
		default:
			a.end = busy
			return in.unclaim(ctx, tx, a.event)
		}
	}
	if a.superseded == 0 {
		if err := in.call(ctx, tx, handler, a); err != nil {
			return err
		}
	}
	return in.complete(ctx, tx, a)
}

func (in *Inbox) call(ctx context.Context, tx pgx.Tx, handler Handler, a *attempt) error {
	if !a.lifecycle {
		if err := in.system.Enter(ctx, tx, a.event.Tenant, a.version, a.schemaExists); err != nil {
			return err
		}
	}
	err := panics.AsError(func() error { return handler.Apply(ctx, tx, a.event) })
	if tx.Conn().PgConn().TxStatus() == 'I' {
		return errors.Join(errEnded, err)
	}
	return err
}

// complete marks the event as done, in the transaction of its effect, and claims
// the tenant's next event unless it is left to other replicas, in one message. A
// lifecycle event makes older ones void, and the event behind it due: it may have
// waited for the tenant.
func (in *Inbox) complete(ctx context.Context, tx pgx.Tx, a *attempt) error {
	void, slug, answered := "", a.event.Tenant, in.answeredIDs()
	if a.superseded != 0 {
		void = voidBy(a.superseded)
	}
	batch := &pgx.Batch{}
	batch.Queue(`
		UPDATE public.webhook_events SET status = 'done', claimed_by = NULL, processed_at = clock_timestamp(), seconds = $2,
			last_error = nullif($3, ''), answered = answered OR $3 = '' OR id = ANY ($4)
		WHERE id = $1 AND status = 'pending' AND `+tenancy.Held,
		a.event.ID, time.Since(a.began).Seconds(), void, answered)
	batch.Queue(`
		UPDATE public.webhook_events SET status = 'done', claimed_by = NULL, processed_at = clock_timestamp(),
			last_error = $3, answered = answered OR id = ANY ($4)
		WHERE $5 AND status = 'pending' AND lifecycle AND (tenant_slug, id) BETWEEN ($1, 0) AND ($1, $2 - 1) AND `+tenancy.Held,
		slug.String(), a.event.ID, voidBy(a.event.ID), answered, a.lifecycle)
	leaves := !a.lifecycle && in.leaves(a.drain, a.event.ID) // what a lifecycle event makes due, it makes due here alone
	if !leaves {
		batch.Queue(claimSQL, in.claimArgs(slug, a.lifecycle)...)
	}
	results := tx.SendBatch(ctx, batch)
	done, err := results.Exec()
	if err == nil && done.RowsAffected() == 0 {
		err = errEnded
	}
	if err == nil {
		_, err = results.Exec()
	}
	switch {
	case leaves:
		a.end = left
	case err == nil:
		a.end, err = in.scanClaim(results.QueryRow())
	}
	return errors.Join(err, results.Close())
}
