package tenancy

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"
)

// pass has every worker go over the tenants once.
func (f *fleet) pass(ctx context.Context) error {
	var workers sync.WaitGroup
	problems := make(chan error, f.options.Jobs)
	for range f.options.Jobs {
		workers.Go(func() { problems <- f.work(ctx) })
	}
	workers.Wait()
	close(problems)
	var all []error
	for err := range problems {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// work takes tenants one after the other in the order of the registry's index.
func (f *fleet) work(ctx context.Context) error {
	var after claim
	for f.begin() {
		err := f.one(ctx, &after)
		switch {
		case errors.Is(err, errNothing):
			return nil
		case after.slug.IsZero():
			return err // no tenant could even be claimed
		case errors.Is(err, errBusy):
			f.unbegin() // somebody else has it
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && IsUnreachable(err) && sqlState(err) != codeLockTimeout:
			return err
		default:
			if err := f.note(ctx, after.slug, err); err != nil {
				return err
			}
		}
	}
	return nil
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
		slug.s, errorText(cause))
	return err
}

// claim is where a worker is in the registry.
type claim struct {
	version int64
	slug    Slug
}

// one migrates the next tenant after *after and moves it on. The row's lock
// shares tenants out among runs; the tenant's lock, which is not waited for, is
// shared with events and requests that work on the tenant.
func (f *fleet) one(ctx context.Context, after *claim) error {
	from := *after
	*after = claim{}
	return f.db.transact(ctx, beginClaim, func(tx pgx.Tx) error {
		var free bool
		err := tx.QueryRow(ctx, `
			SELECT schema_version, slug, pg_try_advisory_xact_lock($5, hashtext(slug))
			FROM (
				SELECT schema_version, slug FROM public.tenants
				WHERE schema_version < $1 AND (schema_version, slug) > ($2, $3) AND ($4 = '' OR slug = $4)
				ORDER BY schema_version, slug
				LIMIT 1
				FOR NO KEY UPDATE SKIP LOCKED) t`,
			f.db.tenant.latest, from.version, from.slug.s, f.options.Only.s, lockSpace).
			Scan(&after.version, &after.slug.s, &free)
		if errors.Is(err, pgx.ErrNoRows) {
			return errNothing
		}
		if err != nil {
			return err
		}
		if !free || !f.try(after.slug) {
			return errBusy
		}
		return f.db.upgradeTenant(ctx, tx, after.slug)
	})
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
