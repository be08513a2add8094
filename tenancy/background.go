package tenancy

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// backgroundJobs leaves the pool to the requests.
	backgroundJobs = 2
	// backgroundPause is how long until another look: at what another replica
	// was doing, or at tenants that failed.
	backgroundPause = 30 * time.Second
)

// MigrateInBackground brings tenants up that are behind while requests are
// served, one replica at a time, until none is behind or ctx ends. Tenants that
// fail are tried again now and then, so that a repair needs no other hand.
func (db *DB) MigrateInBackground(ctx context.Context) {
	db.warnAhead(ctx)
	for ctx.Err() == nil {
		behind, err := (&fleet{db: db}).countBehind(ctx)
		if err == nil && behind > 0 {
			behind, err = db.migrateAsLeader(ctx)
		}
		switch {
		case err == nil && behind == 0:
			return
		case err != nil && !errors.Is(err, ErrBusy) && ctx.Err() == nil:
			db.log.ErrorContext(ctx, "background migration", "error", err)
		}
		_ = pause(ctx, backgroundPause)
	}
}

// migrateAsLeader migrates unless another replica does, which gives ErrBusy,
// and returns how many tenants failed. To lead is to hold the lock of an idle
// transaction; it has no snapshot, so it holds up no vacuum.
func (db *DB) migrateAsLeader(ctx context.Context) (failed int, err error) {
	err = db.transact(ctx, "BEGIN", func(tx pgx.Tx) error {
		var leader bool
		if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1, -1)`, LockKey).Scan(&leader); err != nil {
			return err
		}
		if !leader {
			return ErrBusy
		}
		failed, err = db.migrateQuietly(ctx)
		return err
	})
	return failed, err
}

func (db *DB) migrateQuietly(ctx context.Context) (failed int, err error) {
	result, err := db.MigrateTenants(ctx, FleetOptions{Jobs: backgroundJobs})
	for _, failure := range result.Failed {
		db.log.ErrorContext(ctx, "tenant not migrated", "tenant", failure.Slug, "error", failure.Error)
	}
	db.log.InfoContext(ctx, "tenants migrated", "migrated", result.Migrated, "failed", len(result.Failed), "version", result.Target)
	return len(result.Failed), err
}

// warnAhead says that a deployment was rolled back: tenants are served by a
// program that is older than their schemas.
func (db *DB) warnAhead(ctx context.Context) {
	var ahead int
	err := db.pool.QueryRow(ctx, `SELECT count(*) FROM public.tenants WHERE schema_version > $1`, db.tenant.latest).Scan(&ahead)
	if err == nil && ahead > 0 {
		db.log.WarnContext(ctx, "tenants have a newer schema than this program; they are served as they are",
			"tenants", ahead, "newest_known", db.tenant.latest)
	}
}
