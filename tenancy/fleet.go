package tenancy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
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

	// givesWay ends the run with ErrBusy where another such run, of any process,
	// migrates at this moment.
	givesWay bool
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
	waited  map[Slug]int  // how often a tenant's tables were locked by somebody else
	left    int           // how many this phase may still begin; below zero: no limit
	inBatch int           // how many tenants a transaction migrates; 1: each is done alone
}

// MigrateTenants brings every tenant that is behind to this program's version,
// some at a time: a failure leaves that tenant as it was, is kept in the
// registry, and stops nobody else. Runs at the same time, of any
// process, share the work. It is safe to kill, and to run again.
//
// It returns ErrStopped, wrapped, when the canary or MaxFailures ended it, and
// an error of the database or the context; failures of tenants are no error.
func (db *DB) MigrateTenants(ctx context.Context, o FleetOptions) (FleetResult, error) {
	o.Jobs = cmp.Or(o.Jobs, 4)
	f := &fleet{db: db, options: o, tried: map[Slug]bool{}, waited: map[Slug]int{}, inBatch: 1}
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
		if err := f.passes(ctx); err != nil {
			return err
		}
		if len(f.failed) > 0 {
			return fmt.Errorf("%w: a canary failed, no other tenant was touched", ErrStopped)
		}
	}
	f.left = -1
	var err error
	if f.inBatch, err = f.batchSize(ctx); err != nil {
		return err
	}
	return f.passes(ctx)
}

// elsewherePause is the wait for tenants that another process works on.
const elsewherePause = 100 * time.Millisecond

// passes goes over the tenants until none is behind but those that failed, or this
// phase is over: one that another process had in work may have been left by it.
func (f *fleet) passes(ctx context.Context) error {
	for {
		if err := f.pass(ctx); err != nil {
			return err
		}
		if f.tooMany() {
			return fmt.Errorf("%w after %d failures", ErrStopped, len(f.failed))
		}
		behind, err := f.countBehind(ctx)
		if err != nil || behind <= len(f.failed) || f.over() {
			return err
		}
		if err := pause(ctx, elsewherePause); err != nil {
			return err
		}
	}
}
