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

// arrival is a delivery on its way into the table.
type arrival struct {
	Delivery
	stored
	sum     [sha256.Size]byte
	becomes string // the status that the event gives its tenant, where that is all that it does
	plan    string // and the plan; empty: none
	alone   bool   // it shares its statement with no other
	first   bool   // no other of its tenant is before it in the same statement
	leads   bool   // the statement was sent in its request's name
	again   bool   // the statement had no effect: it is to be tried alone
	isNew   bool   // it is stored; else a row with the same bytes is there
}

// store commits the event before anything is done with it: one statement, unless
// the bytes are known. An error means that nothing is stored, or that this
// cannot be known; then the same bytes, sent again, meet the row.
func (in *Inbox) store(ctx context.Context, d Delivery) (stored, error) {
	for again, repeats := false, 0; repeats < 3; {
		a, began := in.judge(d), time.Now()
		a.alone = again
		if err := in.arrivals.Do(ctx, a); err != nil {
			return stored{}, err
		}
		if !a.leads {
			tenancy.CountShared(ctx, began)
		}
		if a.isNew {
			return a.stored, nil
		}
		if again = a.again; again {
			continue
		}
		err := in.repeat(ctx, &a.stored, a.sum[:])
		if !errors.Is(err, pgx.ErrNoRows) {
			return a.stored, err
		}
		repeats++
	}
	return stored{}, errors.New("the same bytes come and go")
}

// judge says what an event begins as.
func (in *Inbox) judge(d Delivery) *arrival {
	h, handled := in.handlers[d.Type]
	slug, err := tenancy.ParseSlug(d.Tenant)
	a := &arrival{Delivery: d, sum: sha256.Sum256(d.Body), stored: stored{tenant: slug, status: Pending, lifecycle: h.Lifecycle}}
	switch {
	case !handled:
		a.status = Ignored
	case d.Tenant == "":
		a.status, a.reason = Failed, "the event names no tenant in any of the fields of WEBHOOK_TENANT_FIELDS"
	case err != nil:
		a.status, a.reason = Failed, "tenant "+err.Error()
	default:
		a.becomes = h.becomes
	}
	if a.becomes != "" && d.Type == subscriptionCreated {
		a.plan = in.options.Plan(d.Body)
	}
	return a
}

// repeat meets the event that has the same bytes, or returns pgx.ErrNoRows when
// they are to be stored as a new one: that event is older than repeatWindow, or
// the platform says again what it said before the tenant changed its state.
//
// Where the event failed, the platform asks for one more attempt: it is due. One
// that had no handler or no tenant is judged anew, as if it had come now, and a
// void one, which is done, is answered 2xx from here on. Each statement sees what
// a simultaneous copy has done.
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
				last_error = CASE WHEN status IN ('failed', 'ignored') AND attempts = 0 THEN NULL ELSE last_error END,
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
