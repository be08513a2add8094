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

// stored is a row as far as its delivery needs it.
type stored struct {
	id     int64
	status string
	failed bool // the last attempt failed, and the next is not begun
}

// store commits the event before anything is done with it: one statement, unless
// the bytes are known. An error means that nothing is stored, or that this
// cannot be known; then the same bytes, sent again, meet the row.
func (in *Inbox) store(ctx context.Context, d Delivery) (stored, error) {
	sum := sha256.Sum256(d.Body)
	j := in.judge(d)
	for range 3 {
		s, err := in.insert(ctx, d, j, sum[:])
		if errors.Is(err, pgx.ErrNoRows) {
			s, err = in.repeated(ctx, j, sum[:])
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return s, err
		}
	}
	return stored{}, errors.New("the same bytes come and go")
}

// judgement is what an event begins as.
type judgement struct {
	tenant         tenancy.Slug // zero: the event names none that could be
	status, reason string
	lifecycle      bool
}

func (in *Inbox) judge(d Delivery) judgement {
	h, handled := in.handlers[d.Type]
	slug, err := tenancy.ParseSlug(d.Tenant)
	j := judgement{tenant: slug, status: Pending, lifecycle: h.Lifecycle}
	switch {
	case !handled:
		j.status = Ignored
	case d.Tenant == "":
		j.status, j.reason = Failed, "the event names no tenant in any of the fields of WEBHOOK_TENANT_FIELDS"
	case err != nil:
		j.status, j.reason = Failed, "tenant "+err.Error()
	}
	return j
}

// insert stores a new event, or returns pgx.ErrNoRows where its bytes are there.
// It claims the event, which counts the first attempt, where nothing of the
// tenant is before it.
func (in *Inbox) insert(ctx context.Context, d Delivery, j judgement, sum []byte) (s stored, err error) {
	s.status = j.status
	err = in.system.QueryRow(ctx, `
		WITH c AS (SELECT $4 = 'pending' AND ($3 OR NOT EXISTS (
			SELECT FROM public.webhook_events WHERE tenant_slug = $2 AND status = 'pending')) AS claim)
		INSERT INTO public.webhook_events (event_type, tenant_slug, lifecycle, status, last_error, body, body_sha256, signed_with,
			answered, processed_at, attempts, claimed_by, next_attempt_at)
		SELECT $1, nullif($2, ''), $3, $4, nullif($5, ''), $6, $7, $8,
			$4 = 'ignored', CASE WHEN $4 <> 'pending' THEN now() END,
			claim::int, CASE WHEN claim THEN $9 END, now() + CASE WHEN claim THEN make_interval(secs => $10) ELSE '0' END
		FROM c
		ON CONFLICT (body_sha256) WHERE newest DO NOTHING
		RETURNING id`,
		d.Type, j.tenant.String(), j.lifecycle, j.status, j.reason, d.Body, sum, d.SignedWith, in.self, in.options.Lease.Seconds()).Scan(&s.id)
	return s, err
}

// repeated returns the event that has the same bytes, or pgx.ErrNoRows when
// they are to be stored as a new one: the row is older than repeatWindow, or the
// platform says again what it said before the tenant changed its state. Each
// statement sees what a simultaneous copy has done.
func (in *Inbox) repeated(ctx context.Context, j judgement, sum []byte) (s stored, err error) {
	aside, err := in.system.Exec(ctx, `
		UPDATE public.webhook_events e SET newest = false
		WHERE e.body_sha256 = $1 AND e.newest AND (
			e.status <> 'pending' AND e.processed_at <= now() - make_interval(secs => $2)
			OR e.lifecycle AND (e.answered OR e.id = ANY ($3)) AND (
				EXISTS (SELECT FROM public.webhook_events l WHERE l.tenant_slug = e.tenant_slug AND l.lifecycle AND l.id > e.id)
				OR EXISTS (SELECT FROM public.tenants t WHERE t.slug = e.tenant_slug AND t.commanded_at > e.received_at)))`,
		sum, repeatWindow.Seconds(), in.answeredIDs())
	if err != nil {
		return s, err
	}
	if aside.RowsAffected() > 0 {
		return s, pgx.ErrNoRows
	}
	if err := in.redeliver(ctx, j, sum); err != nil {
		return s, err
	}
	return in.read(ctx, `body_sha256 = $1 AND newest`, sum)
}

// redeliver makes one more attempt due at an event that is not done, as the
// platform asks for it. One that had no handler or no tenant is judged anew. A
// void event, which is done, is answered 2xx from here on.
func (in *Inbox) redeliver(ctx context.Context, j judgement, sum []byte) error {
	if j.status != Pending {
		return nil
	}
	_, err := in.system.Exec(ctx, `
		UPDATE public.webhook_events SET
			answered = answered OR status = 'done',
			tenant_slug = CASE WHEN status = 'done' THEN tenant_slug ELSE $2 END,
			lifecycle = CASE WHEN status IN ('failed', 'ignored') THEN $3 ELSE lifecycle END,
			processed_at = CASE WHEN status = 'done' THEN processed_at END,
			next_attempt_at = now(),
			status = CASE WHEN status = 'done' THEN 'done' ELSE 'pending' END
		WHERE body_sha256 = $1 AND newest AND claimed_by IS NULL AND NOT (status = 'done' AND answered)`,
		sum, j.tenant.String(), j.lifecycle)
	return err
}

// read reads the row for which the condition on $1 holds.
func (in *Inbox) read(ctx context.Context, condition string, arg any) (s stored, err error) {
	err = in.system.QueryRow(ctx, `
		SELECT id, status, status = 'pending' AND claimed_by IS NULL AND last_error IS NOT NULL
		FROM public.webhook_events WHERE `+condition, arg).Scan(&s.id, &s.status, &s.failed)
	if err != nil {
		err = fmt.Errorf("read event: %w", err)
	}
	return s, err
}
