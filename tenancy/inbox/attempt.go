package inbox

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// errUnclaimed says that the tenant's next event is not claimed by this process.
var errUnclaimed = errors.New("the event is not claimed")

// attempt is one try at one event.
type attempt struct {
	event        Event
	lifecycle    bool
	claimed      bool
	version      int64 // of the tenant's schema; -1: the tenant is unknown
	schemaExists bool
	superseded   int64 // the later lifecycle event that is done; 0: none
	began        time.Time
	nextClaimed  bool // the completion has claimed the tenant's next event
	more         bool // the tenant has events that are not claimed
}

// attempt applies the tenant's next event and completes it, in one transaction
// under the tenant's lock. It returns errUnclaimed, pgx.ErrNoRows where nothing
// is pending, tenancy.ErrBusy, or the error of the attempt.
func (in *Inbox) attempt(slug tenancy.Slug) (a attempt, err error) {
	ctx, cancel := in.attemptContext()
	defer cancel()
	a.began, a.event.Tenant = time.Now(), slug
	err = in.system.TryTenant(ctx, slug, `
		SELECT e.id, e.event_type, e.body, e.received_at, e.attempts, e.lifecycle, coalesce(e.claimed_by = $2, false),
			coalesce((SELECT schema_version FROM public.tenants WHERE slug = $1), -1), to_regnamespace(quote_ident($3)) IS NOT NULL,
			coalesce((SELECT id FROM (SELECT l.tenant_slug, l.id FROM public.webhook_events l
				WHERE e.lifecycle AND l.lifecycle AND l.status = 'done' AND (l.tenant_slug, l.id) > ($1, e.id)
				ORDER BY l.tenant_slug, l.id LIMIT 1) later WHERE tenant_slug = $1), 0)
		FROM public.webhook_events e WHERE e.status = 'pending' AND e.id = `+head,
		[]any{slug.String(), in.self, slug.Schema()}, a.scan,
		func(tx pgx.Tx) error { return in.perform(ctx, tx, &a) })
	if err == nil {
		in.log.InfoContext(ctx, "event applied", "event_id", a.event.ID, "event_type", a.event.Type, "tenant", slug.String(),
			"attempt", a.event.Attempt, "took_ms", time.Since(a.began).Milliseconds(), "superseded_by", a.superseded)
	}
	return a, err
}

func (a *attempt) scan(row pgx.Row) error {
	var e Event
	err := row.Scan(&e.ID, &e.Type, &e.Body, &e.ReceivedAt, &e.Attempt, &a.lifecycle, &a.claimed,
		&a.version, &a.schemaExists, &a.superseded)
	if err == nil && !a.claimed {
		err = errUnclaimed
	}
	if err == nil {
		e.Tenant = a.event.Tenant
		a.event = e
	}
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
	handler, ok := in.handlers[a.event.Type]
	if !ok {
		return fmt.Errorf("this program has no handler for %s", a.event.Type)
	}
	if !a.lifecycle {
		if err := in.system.Enter(ctx, tx, a.event.Tenant, a.version, a.schemaExists); err != nil {
			return err
		}
	}
	err := recovered(func() error {
		defer in.logPanic(ctx, a.event)
		return handler.Apply(ctx, tx, a.event)
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
// claims the tenant's next event if it is due. A lifecycle event makes older
// ones void, and what waits behind it due: it may have waited for the tenant.
func (in *Inbox) complete(ctx context.Context, tx pgx.Tx, a *attempt) error {
	var done, next, left int
	err := tx.QueryRow(ctx, `
		WITH done AS (
			UPDATE public.webhook_events SET status = 'done', claimed_by = NULL, processed_at = clock_timestamp(),
				answered = $6 = 0 OR answered OR id = ANY ($7), last_error = CASE WHEN $6 <> 0 THEN 'void: superseded by event ' || $6 END
			WHERE id = $2 AND status = 'pending' AND `+tenancy.Held+`
			RETURNING id, attempts
		), history AS (
			INSERT INTO public.webhook_attempts (event_id, attempt, started_at, seconds, error)
			SELECT id, attempts, clock_timestamp() - make_interval(secs => $4), $4, CASE WHEN $6 <> 0 THEN 'void' END FROM done
		), void AS (
			UPDATE public.webhook_events e SET status = 'done', claimed_by = NULL, processed_at = clock_timestamp(),
				answered = e.answered OR e.id = ANY ($7), last_error = 'void: superseded by event ' || $2
			FROM done WHERE $3 AND e.tenant_slug = $1 AND e.lifecycle AND e.status = 'pending' AND e.id < $2
		), head AS (
			SELECT coalesce(
				(SELECT id FROM (SELECT tenant_slug, id FROM public.webhook_events
					WHERE status = 'pending' AND lifecycle AND (tenant_slug, id) <= ($1, 9223372036854775807) AND id <> $2
					ORDER BY tenant_slug DESC, id DESC LIMIT 1) newest WHERE tenant_slug = $1 AND (id > $2 OR NOT $3)),
				(SELECT id FROM (SELECT tenant_slug, id FROM public.webhook_events
					WHERE status = 'pending' AND NOT lifecycle AND (tenant_slug, id) >= ($1, 0) AND id <> $2
					ORDER BY tenant_slug, id LIMIT 1) oldest WHERE tenant_slug = $1)) AS id
		), next AS (
			UPDATE public.webhook_events e SET attempts = e.attempts + CASE WHEN e.claimed_by = $5 THEN 0 ELSE 1 END,
				claimed_by = $5, next_attempt_at = now() + make_interval(secs => $9)
			FROM head, done
			WHERE e.id = head.id AND e.event_type = ANY ($8)
				AND (e.claimed_by = $5 OR e.claimed_by IS NULL AND (e.next_attempt_at <= now() OR $3))
			RETURNING e.id
		)
		SELECT (SELECT count(*) FROM done), (SELECT count(*) FROM next), (SELECT count(id) FROM head)`,
		a.event.Tenant.String(), a.event.ID, a.lifecycle, time.Since(a.began).Seconds(), in.self,
		a.superseded, in.answeredIDs(), in.quick, in.options.Lease.Seconds()).Scan(&done, &next, &left)
	if err == nil && done == 0 {
		err = errEnded
	}
	a.nextClaimed, a.more = next > 0, left > 0
	return err
}
