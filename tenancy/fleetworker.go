package tenancy

import (
	"context"
	"errors"
	"sync"
	"time"
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

// work takes tenants in the order of the registry's index, in batches where that
// is possible.
func (f *fleet) work(ctx context.Context) error {
	var after position
	for f.begin() {
		alone, err := f.batch(ctx, &after)
		counted := false
		for i := 0; i < len(alone) && err == nil; i++ {
			counted, err = f.one(ctx, alone[i])
		}
		if !counted {
			f.unbegin()
		}
		switch {
		case errors.Is(err, errNoneLeft):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// one migrates a tenant alone, and reports whether it counts now. One whose tables
// are in use is left for the next pass; so is one that somebody else has.
func (f *fleet) one(ctx context.Context, slug Slug) (counted bool, err error) {
	err = f.alone(ctx, slug)
	switch {
	case err == nil: // it counts, also where ctx has ended since
	case errors.Is(err, ErrBusy):
		f.untry(slug)
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case IsLockTimeout(err) && f.postpone(slug):
		return false, nil
	case IsUnavailable(err):
		return false, err
	}
	return true, f.note(ctx, slug, err)
}

func (f *fleet) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over() {
		return false
	}
	f.left--
	return true
}

// over reports whether this phase begins no other tenant; f.mu is held, or no
// worker is at work.
func (f *fleet) over() bool { return f.left == 0 || f.left > 0 && len(f.failed) > 0 || f.tooMany() }

func (f *fleet) unbegin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left++
}

// lockedTries is how often a tenant's migration gives way to who uses its tables,
// before it counts as failed.
const lockedTries = 8

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
