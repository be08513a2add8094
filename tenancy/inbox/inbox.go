// Package inbox stores the platform's events and applies each exactly once. See
// README.md for what happens to an event.
package inbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/microbatch"
)

// Inbox applies events one at a time within a tenant, tenants independent of
// each other, by whichever replica comes first.
type Inbox struct {
	system   *tenancy.System
	handlers Handlers
	known    []string // the types that have a handler
	options  Options
	log      *slog.Logger
	self     string          // names this process in claims
	slots    chan struct{}   // bounds the tenants that are worked on
	slow     chan struct{}   // bounds the slow handlers among them
	base     context.Context // ends when what runs must end
	stop     context.CancelFunc
	running  sync.WaitGroup
	after    string // where the poller goes on among the tenants
	arrivals microbatch.Queue[*arrival]

	mu       sync.Mutex // guards what follows
	closed   bool
	leaving  bool // nothing is claimed that no delivery waits for
	drains   map[tenancy.Slug]*drain
	answered map[int64]bool // unfinished lifecycle events that were answered 202
}

// Options tune an Inbox; the zero value is what production wants.
type Options struct {
	Conns          int           // connections of its own, at least 2; 0: 6
	AttemptTimeout time.Duration // of one attempt; 0: 5 minutes
	MaxAttempts    int           // then the event is failed; 0: 36, about a day
	FirstRetry     time.Duration // doubled with each attempt, up to an hour; 0: 1 s
	Poll           time.Duration // how often to look for work; 0: 1 s
	Lease          time.Duration // of a claim: then another process may take the event; 0: 10 s
	Retention      time.Duration // of finished events, at least a day; 0: 90 days
	Logger         *slog.Logger  // nil: slog.Default()
	// Observe, when not nil, hears of every event that this process has settled or
	// tried: its type, empty where it has no handler, and what became of it. It is
	// called from many goroutines.
	Observe func(eventType string, outcome Outcome)

	PlanEvents []string                 // types of the events that change a tenant's plan; no lifecycle events
	Plan       func(body []byte) string // the plan that an event names; empty, or a nil func: none
}

func (o Options) withDefaults() Options {
	o.Conns = max(cmp.Or(o.Conns, 6), 2)
	o.AttemptTimeout = cmp.Or(o.AttemptTimeout, 5*time.Minute)
	o.MaxAttempts = cmp.Or(o.MaxAttempts, 36)
	o.FirstRetry = cmp.Or(o.FirstRetry, time.Second)
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.Lease = cmp.Or(o.Lease, 10*time.Second)
	o.Retention = max(cmp.Or(o.Retention, 90*24*time.Hour), repeatWindow)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Plan == nil {
		o.Plan = func([]byte) string { return "" }
	}
	return o
}

const (
	// connsForStoring are never taken by handlers.
	connsForStoring = 2
	// abandonAfter is how long Close waits for a handler whose context is over.
	abandonAfter = time.Second
)

// New returns an inbox with connections of its own. Beside the handlers it has
// those of the template's own two events. Run looks for work that was left;
// Close ends what runs. It returns an error where one of PlanEvents is marked
// Lifecycle.
func New(db *tenancy.DB, handlers Handlers, o Options) (*Inbox, error) {
	o = o.withDefaults()
	for _, name := range o.PlanEvents {
		if handlers[name].Lifecycle {
			return nil, fmt.Errorf("PLAN_EVENTS names %q, which the product marks Lifecycle: take one of them away", name)
		}
	}
	system, err := db.NewSystem(o.Conns)
	if err != nil {
		return nil, err
	}
	slots := max(o.Conns-connsForStoring, 1)
	in := &Inbox{
		system: system, handlers: builtIn(system, handlers, o), options: o, log: o.Logger, self: rand.Text(),
		slots: make(chan struct{}, slots), slow: make(chan struct{}, max(slots/2, 1)),
		drains: map[tenancy.Slug]*drain{}, answered: map[int64]bool{},
	}
	in.arrivals.AtOnce, in.arrivals.Run = connsForStoring, in.insertAll
	in.arrivals.Most, in.arrivals.Weight = together, weight
	in.known = slices.Collect(maps.Keys(in.handlers))
	in.base, in.stop = context.WithCancel(tenancy.WithActor(context.Background(), tenancy.ActorPlatform))
	return in, nil
}

// Handles reports whether the type has a handler.
func (in *Inbox) Handles(eventType string) bool { _, ok := in.handlers[eventType]; return ok }

// Close claims nothing new, waits for the events that are being applied until
// ctx ends, then rolls them back: they stay pending, for the next start or
// another replica. A handler that ignores its context is left behind.
func (in *Inbox) Close(ctx context.Context) {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	done := make(chan struct{})
	go func() { in.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
	in.stop()
	select {
	case <-done:
	case <-time.After(abandonAfter):
		in.log.Error("an event handler ignores the end of its context: it is left behind, and its event tried again")
	}
	in.system.Close()
}
