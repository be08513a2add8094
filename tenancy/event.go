package tenancy

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// Event is one stored webhook event.
type Event struct {
	ID         int64
	Type       string
	Tenant     Slug
	Body       []byte // the raw bytes, as they were signed
	ReceivedAt time.Time
	Attempt    int // 1 at the first, and again at the first after an operator's retry
}

// EventHandler applies events of one type.
type EventHandler struct {
	// Apply does what the event asks for, through tx alone: what it writes
	// there and the event's completion commit together, so that the effect
	// happens exactly once. tx holds the tenant's lock, and its search_path is
	// the tenant's schema where the tenant exists. Commit and rollback are not
	// Apply's. An error or a panic rolls back, and the event is tried again
	// later; an error wrapped by Permanent is final.
	Apply func(ctx context.Context, tx pgx.Tx, e Event) error

	// NewTenant says that the event may be about a tenant that is not here
	// yet. Other events wait, by failing, until theirs is; those that make it
	// do not wait behind them.
	NewTenant bool

	// Overrides says that the event does not wait behind older ones of its
	// tenant, and makes those that are unfinished void.
	Overrides bool
}

// EventHandlers has the handler of each event type; other types are stored as
// ignored.
type EventHandlers map[string]EventHandler

// permanentError marks what no repetition can heal.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// Permanent wraps err to say that the event can never succeed: it is then
// stored as failed at once, and the platform hears 422.
func Permanent(err error) error { return permanentError{err} }

func isPermanent(err error) bool { return errors.As(err, &permanentError{}) }

// Event statuses. Ignored has no handler; failed waits for a person.
const (
	EventPending = "pending"
	EventDone    = "done"
	EventFailed  = "failed"
	EventIgnored = "ignored"
)
