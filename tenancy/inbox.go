package tenancy

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// Inbox stores the platform's events and applies each exactly once: one at a
// time and in the order received within a tenant, tenants independent of each
// other, by whichever replica comes first.
type Inbox struct {
	db       *DB
	handlers EventHandlers
	options  InboxOptions
	log      *slog.Logger
	batch    batcher
	gate     gate
	slots    chan struct{}   // bounds the connections that events may take
	base     context.Context // ends when what runs must end
	stop     context.CancelFunc
	mu       sync.Mutex // guards closed, and running against a late start
	closed   bool
	running  sync.WaitGroup
}

// InboxOptions tune an Inbox; the zero value is what production wants.
type InboxOptions struct {
	Concurrency    int           // tenants worked on at once; 0: 8, but at most half of the connections
	AttemptTimeout time.Duration // of one attempt; 0: 5 minutes
	MaxAttempts    int           // then the event is failed; 0: 36, about a day
	FirstRetry     time.Duration // doubled with each attempt, up to an hour; 0: 1 s
	Poll           time.Duration // how often to look for work; 0: 1 s
	Lease          time.Duration // how long others leave a stored event alone, more than a sender waits; 0: 10 s
	Retention      time.Duration // of finished events, at least a day; 0: 90 days
}

const maxRetryDelay = time.Hour

func (o InboxOptions) withDefaults(connections int) InboxOptions {
	o.Concurrency = orDefault(o.Concurrency, max(1, min(8, connections/2)))
	o.AttemptTimeout = orDefault(o.AttemptTimeout, 5*time.Minute)
	o.MaxAttempts = orDefault(o.MaxAttempts, 36)
	o.FirstRetry = orDefault(o.FirstRetry, time.Second)
	o.Poll = orDefault(o.Poll, time.Second)
	o.Lease = orDefault(o.Lease, 10*time.Second)
	o.Retention = max(orDefault(o.Retention, 90*24*time.Hour), repeatWindow)
	return o
}

func orDefault[T int | time.Duration](value, fallback T) T {
	if value == 0 {
		return fallback
	}
	return value
}

// NewInbox returns an inbox that applies events by handlers. Run looks for work
// that was left; Close ends what runs.
func (db *DB) NewInbox(handlers EventHandlers, o InboxOptions) *Inbox {
	o = o.withDefaults(int(db.pool.Config().MaxConns))
	base, stop := context.WithCancel(db.base)
	return &Inbox{
		db: db, handlers: handlers, options: o, log: db.log,
		slots: make(chan struct{}, o.Concurrency), base: base, stop: stop,
	}
}

// Close waits for the events that are being applied until ctx ends, then rolls
// them back: they stay pending, for the next start or another replica.
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
	<-done
}

// start runs fn unless the inbox is closing, and reports whether it does.
func (in *Inbox) start(fn func()) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.closed {
		in.running.Go(fn)
	}
	return !in.closed
}

// retryDelay is exponential with jitter: events that failed together must not
// come back together.
func (in *Inbox) retryDelay(attempt int) time.Duration {
	delay := maxRetryDelay
	if attempt < 32 {
		delay = min(delay, in.options.FirstRetry<<max(attempt-1, 0))
	}
	return delay/2 + rand.N(delay/2+1)
}
