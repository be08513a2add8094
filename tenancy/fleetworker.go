package tenancy

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// pass has every worker go over the tenants once.
func (f *fleet) pass(ctx context.Context) error {
	var workers sync.WaitGroup
	problems := make([]error, f.options.Jobs)
	for i := range problems {
		workers.Go(func() { problems[i] = f.work(ctx) })
	}
	workers.Wait()
	return errors.Join(problems...)
}

// work takes tenants in the order of the registry's index, in batches where
// that is possible.
func (f *fleet) work(ctx context.Context) error {
	if f.inBatch > 1 && f.options.Only.IsZero() && f.options.MaxFailures == 0 {
		return f.workInBatches(ctx)
	}
	var after position
	for f.begin() {
		from := after
		err := f.one(ctx, &after)
		switch {
		case errors.Is(err, errNoneLeft):
			return nil
		case after.slug.IsZero():
			return err // no tenant could even be claimed
		case errors.Is(err, ErrBusy):
			f.unbegin() // somebody else has it
		case ctx.Err() != nil:
			return ctx.Err()
		case sqlState(err) == codeLockTimeout && f.postpone(after.slug):
			f.unbegin()
			after = from
			_ = pause(ctx, lockedPause) // the next turn sees its end
		case IsUnavailable(err):
			return err
		default:
			if err := f.note(ctx, after.slug, err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *fleet) workInBatches(ctx context.Context) error {
	var after position
	for {
		alone, err := f.batch(ctx, &after)
		switch {
		case errors.Is(err, errNoneLeft):
			return nil
		case err != nil:
			return err
		}
		for _, slug := range alone {
			if err := f.retry(ctx, slug); err != nil {
				return err
			}
		}
	}
}

// retry migrates a tenant alone that failed in a batch. One whose tables are in
// use is left for the next pass; so is one that somebody else has.
func (f *fleet) retry(ctx context.Context, slug Slug) error {
	err := f.alone(ctx, slug)
	switch {
	case errors.Is(err, ErrBusy):
		f.untry(slug)
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case sqlState(err) == codeLockTimeout && f.postpone(slug):
		return nil
	case IsUnavailable(err):
		return err
	}
	return f.note(ctx, slug, err)
}

func (f *fleet) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == 0 || f.left > 0 && len(f.failed) > 0 || f.tooMany() {
		return false
	}
	f.left--
	return true
}

func (f *fleet) unbegin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left++
}

const (
	// A tenant's migration gives way to who uses its tables, and is tried so
	// often before it counts as failed.
	lockedTries = 8
	lockedPause = 200 * time.Millisecond
)

// postpone reports whether a tenant whose tables are in use is to be tried
// again in this run.
func (f *fleet) postpone(slug Slug) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waited[slug]++
	if f.waited[slug] >= lockedTries {
		return false
	}
	delete(f.tried, slug)
	return true
}

// pause waits for d, or until ctx ends, and returns ctx's error.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return ctx.Err()
}

// note counts a tenant, and keeps why it failed.
func (f *fleet) note(ctx context.Context, slug Slug, cause error) error {
	if cause != nil {
		if err := f.db.noteFailure(ctx, slug, cause); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if cause == nil {
		delete(f.tried, slug)
		f.at.Migrated++
	} else {
		f.at.Failed++
		f.failed = append(f.failed, TenantFailure{slug.s, cause.Error()})
	}
	if f.options.Progress != nil {
		f.options.Progress(f.at)
	}
	return nil
}

// tooMany reports whether MaxFailures is reached; f.mu is held.
func (f *fleet) tooMany() bool {
	return f.options.MaxFailures > 0 && len(f.failed) >= f.options.MaxFailures
}

func (db *DB) noteFailure(ctx context.Context, slug Slug, cause error) error {
	_, err := db.pool.Exec(ctx, `UPDATE public.tenants SET migrate_error = $2, updated_at = now() WHERE slug = $1`,
		slug.s, StorableError(cause))
	return err
}

var errNoneLeft = errors.New("no tenant is left")

// position is where a worker is in the registry.
type position struct {
	version int64
	slug    Slug
}

// one migrates the next tenant after *after and moves it on. The tenant's lock,
// which is not waited for, shares tenants out among runs, and with events and
// requests that work on the tenant. The registry row is not locked until the
// migration has run: a sign-in needs it.
func (f *fleet) one(ctx context.Context, after *position) error {
	from := *after
	*after = position{}
	return f.db.transact(ctx, beginClaim, func(tx pgx.Tx) error {
		next, err := f.claim(ctx, tx, from, 1)
		if err != nil {
			return err
		}
		*after = next[0].position
		if !next[0].free || !f.try(after.slug) {
			return ErrBusy
		}
		return f.upgrade(ctx, tx, after.slug)
	})
}

// working are the tenants that are tried or in work now.
func (f *fleet) working() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	slugs := make([]string, 0, len(f.tried))
	for slug := range f.tried {
		slugs = append(slugs, slug.s)
	}
	return slugs
}

// try reports whether the tenant was neither in work nor failed in this run, and
// has it in work now.
func (f *fleet) try(slug Slug) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tried[slug] {
		return false
	}
	f.tried[slug] = true
	return true
}
