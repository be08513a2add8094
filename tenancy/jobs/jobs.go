// Package jobs runs work that need not be done while a user waits, or whose time
// comes later: mails, reports, cleaning. A job is inserted in the transaction of
// what it belongs to, and run by one replica, at least once. The engine is
// riverqueue/river, of which nothing shows here.
//
// To take it out: delete this folder, tenancy/river.go, and what the compiler
// then misses; add a migration that drops the tables of
// tenancy/schema/000003_jobs.up.sql.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Args are what a job is run with: a struct that is stored as JSON. Kind names
// its handler and is stored too; a kind that is renamed leaves its jobs behind.
type Args interface{ Kind() string }

// Declared is what a product declares: the handler of a kind, or its schedule.
type Declared struct {
	kind   string
	shared bool
	run    func(ctx context.Context, args []byte) error // nil: a schedule

	every time.Duration // of a schedule
	args  Args
}

// Handle declares the handler of a kind of job that belongs to a tenant: ctx is
// that tenant's, as in a request, so that DB.InTx works on its data.
//
// The handler runs at least once: it must do no harm when it runs again. An
// error or a panic is a failed attempt; the next follows after a second, then
// after 16, 81 and so on, until the job is failed after 15 attempts, some 35
// hours. Permanent and Later say otherwise. An attempt has 5 minutes.
func Handle[A Args](handler func(ctx context.Context, args A) error) Declared {
	var zero A
	return Declared{kind: zero.Kind(), run: func(ctx context.Context, stored []byte) error {
		var args A
		if err := json.Unmarshal(stored, &args); err != nil {
			return fmt.Errorf("arguments: %w", err)
		}
		return handler(ctx, args)
	}}
}

// Shared is Handle for a kind of job that belongs to no tenant: DB.InShared and
// DB.EachTenant work in it.
func Shared[A Args](handler func(ctx context.Context, args A) error) Declared {
	d := Handle(handler)
	d.shared = true
	return d
}

// Every has a shared job inserted again and again, at the multiples of interval
// since midnight UTC, by one replica. The kind is declared beside it, and has
// this one schedule. Where the last one is not finished yet, none is inserted.
func Every(interval time.Duration, args Args) Declared {
	return Declared{kind: args.Kind(), shared: true, every: interval, args: args}
}

// EveryTenant is Every for each active tenant, at a time within interval that
// depends on the tenant's slug, so that they do not come all at once.
func EveryTenant(interval time.Duration, args Args) Declared {
	return Declared{kind: args.Kind(), every: interval, args: args}
}

type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// Permanent wraps a handler's err to say that the job can never succeed: it is
// failed at once.
func Permanent(err error) error { return permanentError{err} }

type laterError time.Duration

func (e laterError) Error() string { return "later, in " + time.Duration(e).String() }

// Later is returned by a handler that is not to be counted as an attempt: the job
// runs again in d.
func Later(d time.Duration) error { return laterError(max(d, 0)) }

func isPermanent(err error) bool { return errors.As(err, &permanentError{}) }

// Job statuses.
const (
	Pending   = "pending" // waits for its time, its turn or its next attempt
	Running   = "running"
	Done      = "done"
	Failed    = "failed" // waits for a person
	Cancelled = "cancelled"
)
