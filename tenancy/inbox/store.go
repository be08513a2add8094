package inbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// repeatWindow is how long an identical body counts as the same event.
const repeatWindow = 24 * time.Hour

// stored is an event's row as far as its delivery needs it.
type stored struct {
	id             int64
	tenant         tenancy.Slug // zero: the event names none that could be
	status, reason string
	lifecycle      bool
	failed         bool // the last attempt failed, and no other is claimed
}

// store commits the event before anything is done with it: one statement, unless
// the bytes are known. An error means that nothing is stored, or that this
// cannot be known; then the same bytes, sent again, meet the row.
func (in *Inbox) store(ctx context.Context, d Delivery) (stored, error) {
	sum := sha256.Sum256(d.Body)
	for range 3 {
		s := in.judge(d)
		err := in.insert(ctx, d, &s, sum[:])
		if errors.Is(err, pgx.ErrNoRows) {
			err = in.repeat(ctx, &s, sum[:])
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return s, err
		}
	}
	return stored{}, errors.New("the same bytes come and go")
}

// judge says what an event begins as.
func (in *Inbox) judge(d Delivery) stored {
	h, handled := in.handlers[d.Type]
	slug, err := tenancy.ParseSlug(d.Tenant)
	s := stored{tenant: slug, status: Pending, lifecycle: h.Lifecycle}
	switch {
	case !handled:
		s.status = Ignored
	case d.Tenant == "":
		s.status, s.reason = Failed, "the event names no tenant in any of the fields of WEBHOOK_TENANT_FIELDS"
	case err != nil:
		s.status, s.reason = Failed, "tenant "+err.Error()
	}
	return s
}

// insert stores a new event, or returns pgx.ErrNoRows where its bytes are there.
// It claims the event, which counts the first attempt, where nothing of the
// tenant is before it.
//
// Where the whole effect is the tenant's status ($11) and plan ($15), the tenant is ready and
// nobody has its lock, the event is applied at once and stored as done. Its id
// comes after the lock, so of all lifecycle events that were applied it is the
// newest, and the tenant's row, read by locking it, is as the lock's last holder
// left it.
func (in *Inbox) insert(ctx context.Context, d Delivery, s *stored, sum []byte) error {
	becomes, plan := "", ""
	if s.status == Pending {
		becomes = in.instant[d.Type]
	}
	if becomes != "" && d.Type == subscriptionCreated {
		plan = in.options.Plan(d.Body)
	}
	batch := &pgx.Batch{}
	batch.Queue(`
		WITH tenant AS MATERIALIZED (
			SELECT slug FROM public.tenants
			WHERE $11 <> '' AND (SELECT pg_try_advisory_xact_lock($12::int, hashtext($2)) WHERE $11 <> '') AND slug = $2
				AND schema_version >= $13 AND purging_since IS NULL AND to_regnamespace(quote_ident($14)) IS NOT NULL
			FOR NO KEY UPDATE
		), c AS (
			SELECT EXISTS (SELECT FROM tenant) AS instant, $4 = 'pending' AND ($3 OR NOT EXISTS (
				SELECT FROM public.webhook_events WHERE tenant_slug = $2 AND status = 'pending')) AS claim
		), event AS (
			INSERT INTO public.webhook_events (event_type, tenant_slug, lifecycle, status, last_error, body, body_sha256, signed_with,
				answered, processed_at, attempts, claimed_by, next_attempt_at, seconds)
			SELECT $1, nullif($2, ''), $3, CASE WHEN instant THEN 'done' ELSE $4 END, nullif($5, ''), $6, $7, $8,
				instant OR $4 = 'ignored', CASE WHEN instant OR $4 <> 'pending' THEN clock_timestamp() END, claim::int,
				CASE WHEN claim AND NOT instant THEN $9 END, now() + CASE WHEN claim THEN make_interval(secs => $10) ELSE '0' END, CASE WHEN instant THEN 0 END
			FROM c
			ON CONFLICT (body_sha256) WHERE newest DO NOTHING
			RETURNING id, status
		), applied AS (
			UPDATE public.tenants t SET status = $11, migrate_error = NULL, updated_at = now(),
				cancelled_at = CASE $11 WHEN 'cancelled' THEN coalesce(t.cancelled_at, now()) END,
				plan_type = CASE WHEN $15 = '' OR t.plan_as_of > now() THEN t.plan_type ELSE $15 END,
				plan_as_of = CASE WHEN $15 = '' THEN t.plan_as_of ELSE greatest(t.plan_as_of, now()) END
			FROM event WHERE event.status = 'done' AND t.slug = $2
		), recorded AS (
			INSERT INTO public.audit_log (actor, action, tenant_slug) SELECT $16, $17, $2 FROM event WHERE status = 'done'
		)
		SELECT id, status FROM event`,
		d.Type, s.tenant.String(), s.lifecycle, s.status, s.reason, d.Body, sum, d.SignedWith, in.self, in.options.Lease.Seconds(),
		becomes, tenancy.LockKey, in.system.LatestVersion(), s.tenant.Schema(), plan,
		tenancy.ActorPlatform, actions[d.Type])
	if becomes == "cancelled" {
		batch.Queue(tenancy.EndSessionsOfCancelled, s.tenant.String())
		batch.Queue(tenancy.EndJobsOfCancelled, s.tenant.String())
	}
	results := in.system.SendBatch(ctx, batch)
	err := results.QueryRow().Scan(&s.id, &s.status)
	if closed := results.Close(); err == nil {
		err = closed
	}
	if err == nil && s.status != Pending {
		in.observe(d.Type, outcomes[s.status])
	}
	if err == nil && s.status == Done {
		in.log.InfoContext(ctx, "event applied", "event_id", s.id, "event_type", d.Type, "tenant", s.tenant.String(), "attempt", 1)
		in.told(ctx, d.Type, s.tenant)
	}
	return err
}

// repeat meets the event that has the same bytes, or returns pgx.ErrNoRows when
// they are to be stored as a new one: that event is older than repeatWindow, or
// the platform says again what it said before the tenant changed its state.
//
// Where the event failed, the platform asks for one more attempt: it is due. One
// that had no handler or no tenant is judged anew, and a void one, which is
// done, is answered 2xx from here on. Each statement sees what a simultaneous
// copy has done.
func (in *Inbox) repeat(ctx context.Context, s *stored, sum []byte) error {
	aside, err := in.system.Exec(ctx, `
		UPDATE public.webhook_events e SET newest = false
		WHERE e.body_sha256 = $1 AND e.newest AND (
			e.status <> 'pending' AND e.processed_at <= now() - make_interval(secs => $2)
			OR e.lifecycle AND (e.answered OR e.id = ANY ($3)) AND (
				EXISTS (SELECT FROM public.webhook_events l WHERE l.tenant_slug = e.tenant_slug AND l.lifecycle AND l.id > e.id)
				OR EXISTS (SELECT FROM public.tenants t WHERE t.slug = e.tenant_slug AND t.commanded_at > e.received_at)))`,
		sum, repeatWindow.Seconds(), in.answeredIDs())
	if err == nil && aside.RowsAffected() > 0 {
		return pgx.ErrNoRows
	}
	if err == nil && s.status == Pending {
		_, err = in.system.Exec(ctx, `
			UPDATE public.webhook_events SET answered = answered OR status = 'done', next_attempt_at = now(),
				tenant_slug = CASE WHEN status = 'done' THEN tenant_slug ELSE $2 END,
				lifecycle = CASE WHEN status IN ('failed', 'ignored') THEN $3 ELSE lifecycle END,
				processed_at = CASE WHEN status = 'done' THEN processed_at END,
				status = CASE WHEN status = 'done' THEN 'done' ELSE 'pending' END
			WHERE body_sha256 = $1 AND newest AND claimed_by IS NULL AND NOT (status = 'done' AND answered)`,
			sum, s.tenant.String(), s.lifecycle)
	}
	if err != nil {
		return err
	}
	return in.read(ctx, s, `body_sha256 = $1 AND newest`, sum)
}

// read reads the row for which the condition on $1 holds.
func (in *Inbox) read(ctx context.Context, s *stored, condition string, arg any) error {
	err := in.system.QueryRow(ctx, `
		SELECT id, status, status = 'pending' AND claimed_by IS NULL AND last_error IS NOT NULL
		FROM public.webhook_events WHERE `+condition, arg).Scan(&s.id, &s.status, &s.failed)
	if err != nil {
		err = fmt.Errorf("read event: %w", err)
	}
	return err
}
