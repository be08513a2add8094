package tenancy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// FleetOptions say how MigrateTenants goes about it.
type FleetOptions struct {
	Jobs        int  // tenants at once; 0: 4
	Canary      int  // this many first; one failure among them stops everything
	MaxFailures int  // stop when so many failed; 0: never
	Only        Slug // zero: every tenant
	// Progress, when not nil, hears of every tenant that was finished. It is
	// called from one goroutine at a time.
	Progress func(FleetProgress)
}

// FleetProgress counts tenants.
type FleetProgress struct{ Behind, Migrated, Failed int }

// FleetResult is what became of a run.
type FleetResult struct {
	Target   int64 // the version that tenants were brought to
	Migrated int
	Failed   []TenantFailure
}

// TenantFailure says why a tenant stayed where it was.
type TenantFailure struct {
	Slug  string `json:"slug"`
	Error string `json:"error"`
}

// ErrStopped says that a run ended before its end: by its canary, or by too
// many failures.
var ErrStopped = errors.New("stopped")

// fleet is one run. The only state that grows with the tenants is the list of
// those that failed.
type fleet struct {
	db      *DB
	options FleetOptions
	mu      sync.Mutex
	at      FleetProgress
	failed  []TenantFailure
	tried   map[Slug]bool // those in work, and those that failed: once is enough
	left    int           // how many this phase may still begin; below zero: no limit
}

// MigrateTenants brings every tenant that is behind to this program's version,
// each in a transaction of its own: a failure leaves that tenant as it was, is
// kept in the registry, and stops nobody else. Runs at the same time, of any
// process, share the work. It is safe to kill, and to run again.
//
// It returns ErrStopped, wrapped, when the canary or MaxFailures ended it, and
// an error of the database or the context; failures of tenants are no error.
func (db *DB) MigrateTenants(ctx context.Context, o FleetOptions) (FleetResult, error) {
	o.Jobs = orDefault(o.Jobs, 4)
	f := &fleet{db: db, options: o, tried: map[Slug]bool{}}
	behind, err := f.countBehind(ctx)
	if err != nil {
		return FleetResult{}, err
	}
	f.at.Behind = behind
	if behind > 0 {
		err = f.run(ctx)
	}
	return FleetResult{Target: db.tenant.latest, Migrated: f.at.Migrated, Failed: f.failed}, err
}

// countBehind is the one query of a run that has nothing to do.
func (f *fleet) countBehind(ctx context.Context) (n int, err error) {
	err = f.db.pool.QueryRow(ctx, `
		SELECT count(*) FROM public.tenants WHERE schema_version < $1 AND ($2 = '' OR slug = $2)`,
		f.db.tenant.latest, f.options.Only.s).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("tenants that are behind: %w", err)
	}
	return n, nil
}

func (f *fleet) run(ctx context.Context) error {
	if canary := f.options.Canary; canary > 0 {
		f.left = canary
		if err := f.pass(ctx); err != nil {
			return err
		}
		if len(f.failed) > 0 {
			return fmt.Errorf("%w: a canary failed, no other tenant was touched", ErrStopped)
		}
	}
	f.left = -1
	return f.passes(ctx)
}

// elsewherePause is the wait for tenants that another process works on.
const elsewherePause = 100 * time.Millisecond

// passes goes over the tenants until none is behind but those that failed: one
// that another process had in work may have been left by it.
func (f *fleet) passes(ctx context.Context) error {
	for {
		if err := f.pass(ctx); err != nil {
			return err
		}
		if f.tooMany() {
			return fmt.Errorf("%w after %d failures", ErrStopped, len(f.failed))
		}
		behind, err := f.countBehind(ctx)
		if err != nil || behind <= len(f.failed) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(elsewherePause):
		}
	}
}

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
		slug.s, cause.Error())
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
