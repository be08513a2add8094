package tenancy

import (
	"context"
	"errors"
	"time"
)

const (
	// backgroundJobs leaves a connection to tenants that are made or migrated on
	// use, where there are two.
	backgroundJobs = 1
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
			behind, err = db.migrateQuietly(ctx)
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

// migrateQuietly returns how many tenants failed, and ErrBusy where another
// replica is at work.
func (db *DB) migrateQuietly(ctx context.Context) (failed int, err error) {
	result, err := db.MigrateTenants(ctx, FleetOptions{Jobs: backgroundJobs, givesWay: true})
	for _, failure := range result.Failed {
		db.log.ErrorContext(ctx, "tenant not migrated", "tenant", failure.Slug, "error", failure.Error)
	}
	if result.Migrated+len(result.Failed) > 0 {
		db.log.InfoContext(ctx, "tenants migrated", "migrated", result.Migrated, "failed", len(result.Failed), "version", result.Target)
	}
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
