package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"example.com/subproduct/tenancy"
)

// manyJobs is after how many inserted at once the planner has to know of them.
const manyJobs = 1000

// RunNow inserts the jobs of a schedule as if their time had come: of every active
// tenant, or of one (the zero Slug stands for all). A tenant whose last one is
// not finished gets none. It returns how many it inserted, or ErrNoSchedule, or
// ErrSharedSchedule for one tenant of a schedule that has no tenants.
func RunNow(ctx context.Context, db *tenancy.DB, declared []Declared, kind string, only tenancy.Slug) (int64, error) {
	for _, s := range declared {
		if s.kind != kind || s.run != nil {
			continue
		}
		if s.shared && !only.IsZero() {
			return 0, fmt.Errorf("%s: %w", kind, ErrSharedSchedule)
		}
		args, err := json.Marshal(s.args)
		if err != nil {
			return 0, fmt.Errorf("job %s: %w", kind, err)
		}
		owners := `SELECT slug, id FROM public.tenants WHERE status = 'active' AND $3 IN ('', slug)`
		if s.shared {
			owners = `SELECT '' AS slug, NULL::bigint AS id WHERE $3 = ''`
		}
		inserted, err := db.System().Exec(ctx, insertSQL+`
			FROM (SELECT $1::text AS kind, $2::jsonb AS args, t.slug AS tenant, now() AS at, true AS once, t.id AS tenant_id FROM (`+owners+`) t) j`+
			unlessThere, kind, string(args), only.String())
		if err == nil && inserted.RowsAffected() > manyJobs {
			_, err = db.System().Exec(ctx, `ANALYZE public.river_job`)
		}
		return inserted.RowsAffected(), err
	}
	return 0, fmt.Errorf("%s: %w", kind, ErrNoSchedule)
}

// Schedules are the kinds that have one.
func Schedules(declared []Declared) []string {
	names := []string{}
	for _, d := range declared {
		if d.run == nil {
			names = append(names, d.kind)
		}
	}
	return names
}

// Counts are how jobs stand.
type Counts struct {
	Pending, Running, Failed int64
	OldestDue                *time.Time // since when the first that is due has waited; nil: none is due
}

// Count reads how jobs stand, from an index: for checks and metrics.
func Count(ctx context.Context, db *tenancy.DB) (c Counts, err error) {
	err = db.System().QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE state IN ('available', 'pending', 'retryable', 'scheduled')), count(*) FILTER (WHERE state = 'running'),
			count(*) FILTER (WHERE state = 'discarded'), min(scheduled_at) FILTER (WHERE state = 'available' AND scheduled_at <= now())
		FROM public.river_job WHERE state IN ('available', 'discarded', 'pending', 'retryable', 'running', 'scheduled')`).
		Scan(&c.Pending, &c.Running, &c.Failed, &c.OldestDue)
	return c, err
}
