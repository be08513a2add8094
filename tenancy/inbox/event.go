package inbox

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// Event is one stored webhook event.
type Event struct {
	ID         int64
	Type       string
	Tenant     tenancy.Slug
	Body       []byte // the raw bytes, as they were signed
	ReceivedAt time.Time
	Attempt    int // 1 at the first, and again at the first after an operator's retry
}

// Apply does what an event asks for, through tx alone: what it writes there and
// the event's completion commit together, so that the effect happens exactly
// once. tx holds the tenant's lock, and its search_path is the tenant's schema.
// Commit and rollback are not Apply's: an event whose handler said either is
// failed at once. A handler that sends no statement for 10 seconds loses its
// transaction, for it cannot be told from a frozen process: a call to elsewhere
// does not belong here. An error or a panic rolls back, and the event is tried
// again later; an error wrapped by Permanent is final.
type Apply func(ctx context.Context, tx pgx.Tx, e Event) error

// Handler applies events of one type.
type Handler struct {
	Apply Apply

	// Lifecycle says that the event tells what state its tenant is in, and that
	// Apply reaches that state from any other. The newest one received wins: it
	// waits for no other event, and older ones are void once it is done. The
	// tenant may not be here yet; then unqualified names are found in public
	// alone.
	Lifecycle bool

	// Slow says that Apply may take seconds. Such handlers have a share of the
	// connections and no more, so that they hold up no quick one.
	Slow bool

	becomes string // status of the tenant, where that is all that the event does
	action  string // what the audit log says of it; empty: nothing
}

// Handlers has the handler of each event type; other types are stored as
// ignored.
type Handlers map[string]Handler

// permanentError marks what no repetition can heal.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// Permanent wraps err to say that the event can never succeed: it is then
// stored as failed at once, and the platform is answered 422.
func Permanent(err error) error { return permanentError{err} }

// errEnded says that a handler has ended the transaction that it was given.
var errEnded = Permanent(errors.New("the handler ended its transaction (COMMIT or ROLLBACK): " +
	"what it wrote before that may stay, and it is not tried again"))

func isPermanent(err error) bool { return errors.As(err, &permanentError{}) }

// Event statuses. Ignored has no handler; failed waits for a person.
const (
	Pending = "pending"
	Done    = "done"
	Failed  = "failed"
	Ignored = "ignored"
)

// subscriptionCreated also has the tenant's first plan.
const subscriptionCreated = "subscription.created"

// builtIn has the template's two events (contract, section 6) and those that change
// a plan. A handler of the product for one of them runs after the template's
// part, in its transaction.
func builtIn(system *tenancy.System, product Handlers, o Options) Handlers {
	handlers := maps.Clone(product)
	if handlers == nil {
		handlers = Handlers{}
	}
	setPlan := func(ctx context.Context, tx pgx.Tx, e Event) error {
		plan := o.Plan(e.Body)
		if plan == "" {
			return nil
		}
		return system.SetPlan(ctx, tx, e.Tenant, plan, e.ReceivedAt)
	}
	for _, name := range o.PlanEvents {
		then := product[name]
		handlers[name] = Handler{Apply: inTurn(setPlan, then.Apply), Slow: then.Slow}
	}
	created := func(ctx context.Context, tx pgx.Tx, e Event) error { return system.Provision(ctx, tx, e.Tenant) }
	cancelled := func(ctx context.Context, tx pgx.Tx, e Event) error {
		err := system.Cancel(ctx, tx, e.Tenant)
		if errors.Is(err, tenancy.ErrUnknownTenant) {
			return nil // it never came to be
		}
		return err
	}
	for name, own := range map[string]Handler{
		subscriptionCreated: {Apply: inTurn(created, setPlan), becomes: tenancy.Active, action: tenancy.AuditProvision},
		"tenant.cancelled":  {Apply: cancelled, becomes: tenancy.Cancelled, action: tenancy.AuditCancel},
	} {
		own.Lifecycle = true
		if then, more := product[name]; more {
			own.Apply, own.Slow, own.becomes = inTurn(own.Apply, then.Apply), then.Slow, ""
		}
		handlers[name] = own
	}
	return handlers
}

// told logs what an event has done to its tenant.
func (in *Inbox) told(ctx context.Context, eventType string, slug tenancy.Slug) {
	if action := in.handlers[eventType].action; action != "" {
		in.system.Told(tenancy.WithActor(ctx, tenancy.ActorPlatform), action, slug, "")
	}
}

func inTurn(first, then Apply) Apply {
	if then == nil {
		return first
	}
	return func(ctx context.Context, tx pgx.Tx, e Event) error {
		if err := first(ctx, tx, e); err != nil {
			return err
		}
		return then(ctx, tx, e)
	}
}
