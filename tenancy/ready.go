package tenancy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/subproduct/tenancy/panics"
)

// readyTimeout bounds work that goes on after the one who asked has left.
const readyTimeout = 5 * time.Minute

// EnsureReady makes a tenant that the platform vouches for usable: one that is
// not known yet, its event having been lost or late, is provisioned. A
// cancelled one stays cancelled and gives ErrTenantCancelled. Simultaneous
// calls for one tenant share the work, and the work goes on when ctx ends
// first; then the error is ctx's.
func (db *DB) EnsureReady(ctx context.Context, slug Slug) error {
	t, err := db.Tenant(ctx, slug)
	switch {
	case errors.Is(err, ErrUnknownTenant):
		who := Actor(ctx)
		return db.once(ctx, slug, func(ctx context.Context) error { return db.provisionUnlessCancelled(WithActor(ctx, who), slug) })
	case err != nil:
		return err
	case t.Status != Active:
		return fmt.Errorf("%s: %w", slug, ErrTenantCancelled)
	}
	return db.catchUp(ctx, t)
}

// catchUp migrates a tenant that is behind before its first use. After a failure
// the tenant's requests get the same error for a while: they must not all run
// the migration in vain, nor stand in the way of replicas that need none, which
// a migration that waits for a table does.
func (db *DB) catchUp(ctx context.Context, t Tenant) error {
	if t.SchemaVersion >= db.tenant.latest || !db.options.MigrateOnUse {
		return nil
	}
	last, _ := db.failures.Load(t.Slug)
	before, _ := last.(failure)
	if time.Since(before.at) < before.pause {
		return before.err
	}
	return db.once(ctx, t.Slug, func(ctx context.Context) error {
		err := db.upgrade(ctx, t.Slug)
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrNotMigrated, err)
		}
		if err == nil || ctx.Err() != nil || IsUnavailable(err) {
			db.failures.Delete(t.Slug)
			return err
		}
		db.log.ErrorContext(ctx, "tenant not migrated", "tenant", t.Slug.String(), "error", err)
		db.failures.Store(t.Slug, failure{time.Now(), min(max(2*before.pause, minFailurePause), maxFailurePause), err})
		return errors.Join(err, db.noteFailure(ctx, t.Slug, err))
	})
}

// A migration on use that failed is tried again after a pause, which doubles.
const (
	minFailurePause = 2 * time.Second
	maxFailurePause = 30 * time.Second
)

type failure struct {
	at    time.Time
	pause time.Duration
	err   error
}

// once runs work for the tenant unless it runs already, and waits for it as
// long as ctx allows. The work itself is bounded by readyTimeout and Close.
func (db *DB) once(ctx context.Context, slug Slug, work func(context.Context) error) error {
	result := db.catchUps.DoChan(slug.s, func() (any, error) {
		ctx, cancel := context.WithTimeout(db.base, readyTimeout)
		defer cancel()
		return nil, panics.AsError(func() error { return work(ctx) })
	})
	select {
	case r := <-result:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}
