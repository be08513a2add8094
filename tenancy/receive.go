package tenancy

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Delivery is a verified event as it came over the wire.
type Delivery struct {
	Type       string
	Tenant     string // as the body spells it; empty when it names none
	Body       []byte // raw
	SignedWith string // "current" or "previous": which secret verified it
}

// Stored is what the inbox holds of a delivery.
type Stored struct {
	ID     int64
	Tenant Slug
	Status string // EventPending, EventDone, EventFailed or EventIgnored
	Reason string // why it is failed
	// Repeated says that the same bytes were received before, within a day.
	Repeated bool

	marked bool // an attempt is on record, and is the caller's to make
}

// repeatWindow is how long an identical body counts as the same event.
const repeatWindow = 24 * time.Hour

// Store commits the event before anything is done with it. The same bytes
// within 24 hours are the same event, also when two copies come at the same
// instant to two replicas. A type without a handler is stored as ignored, an
// event that can never be applied as failed, all others as pending. It costs
// one round trip, which may be shared with others, unless the bytes are known. An error means that nothing is
// stored for sure, and that the platform must send it again.
func (in *Inbox) Store(ctx context.Context, d Delivery) (Stored, error) {
	sum := sha256.Sum256(d.Body)
	judged := in.judge(d)
	for range 3 {
		s, err := in.insert(ctx, d, judged, sum[:])
		if errors.Is(err, pgx.ErrNoRows) {
			s, err = in.known(ctx, judged, sum[:])
		}
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return Stored{}, fmt.Errorf("store event: %w", err)
		}
	}
	return Stored{}, errors.New("store event: the same bytes come and go")
}

// judge decides a new event's first status.
func (in *Inbox) judge(d Delivery) Stored {
	slug, err := ParseSlug(d.Tenant)
	if _, handled := in.handlers[d.Type]; !handled {
		return Stored{Status: EventIgnored, Tenant: slug}
	}
	if d.Tenant == "" {
		return Stored{Status: EventFailed, Reason: "the event names no tenant in any of the fields of WEBHOOK_TENANT_FIELDS"}
	}
	if err != nil {
		return Stored{Status: EventFailed, Reason: "tenant " + err.Error()}
	}
	return Stored{Status: EventPending, Tenant: slug}
}

// known returns the event that has the same bytes, or pgx.ErrNoRows when there
// is none any more: one that was finished more than repeatWindow ago steps aside
// for a new one. These are statements of their own so that each sees what a
// simultaneous copy has done.
func (in *Inbox) known(ctx context.Context, judged Stored, sum []byte) (Stored, error) {
	aside, err := in.db.pool.Exec(ctx, `
		UPDATE public.webhook_events SET newest = false
		WHERE body_sha256 = $1 AND newest AND status <> 'pending'
			AND processed_at <= now() - make_interval(secs => $2)`, sum, repeatWindow.Seconds())
	if err != nil {
		return Stored{}, err
	}
	if aside.RowsAffected() > 0 {
		return Stored{}, pgx.ErrNoRows
	}
	s := Stored{Repeated: true}
	if judged.Status == EventPending {
		if s.marked, err = in.mark(ctx, judged, sum); err != nil {
			return Stored{}, err
		}
	}
	err = in.db.pool.QueryRow(ctx, `
		SELECT id, coalesce(tenant_slug, ''), status, coalesce(last_error, '')
		FROM public.webhook_events WHERE body_sha256 = $1 AND newest`, sum).
		Scan(&s.ID, &s.Tenant.s, &s.Status, &s.Reason)
	return s, err
}

// mark puts an attempt on record, as the platform asks for one, at an event that
// waits for its next, or is failed or ignored and could be applied by this
// program.
func (in *Inbox) mark(ctx context.Context, judged Stored, sum []byte) (bool, error) {
	tag, err := in.db.pool.Exec(ctx, `
		UPDATE public.webhook_events SET status = 'pending', tenant_slug = $2, processed_at = NULL,
			started_at = now(), next_attempt_at = now() + make_interval(secs => $3)
		WHERE body_sha256 = $1 AND newest AND (status IN ('failed', 'ignored') OR status = 'pending' AND started_at IS NULL)`,
		sum, judged.Tenant.s, in.options.Lease.Seconds())
	return err == nil && tag.RowsAffected() > 0, err
}
