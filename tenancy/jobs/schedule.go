package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// tick is how often schedules are looked at.
const (
	tickSeconds = 5
	tick        = tickSeconds * time.Second
)

// keepSchedules inserts the jobs of the schedules when they are due, until ctx
// ends. Every replica does so: the row of a schedule has the time up to which
// its jobs are inserted, and is moved on with them in one statement, so that
// none is inserted twice, and none forgotten while no replica runs.
func (e *Engine) keepSchedules(ctx context.Context) {
	for len(e.schedules) > 0 {
		if err := e.insertDue(ctx); err != nil && ctx.Err() == nil {
			e.log.ErrorContext(ctx, "jobs: what is due was not inserted", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(tick):
		}
	}
}

func (e *Engine) insertDue(ctx context.Context) error {
	for _, s := range e.schedules {
		args, err := json.Marshal(s.args)
		if err != nil {
			return fmt.Errorf("schedule of %s: %w", s.kind, err)
		}
		seconds := int64(s.every.Seconds())
		if err = e.begin(ctx, s.kind, seconds); err == nil {
			_, err = e.system.Exec(ctx, dueSQL(s.shared), s.kind, string(args), seconds, max(seconds/catchUp, 2*tickSeconds), tickSeconds/2)
		}
		if err != nil {
			return fmt.Errorf("schedule of %s: %w", s.kind, err)
		}
	}
	return nil
}

// begin has a schedule that is new begin now, and so one that is done for longer
// than its interval ahead: the database's clock was ahead and is right again.
// Without that its jobs would stay away until the wrong time comes.
func (e *Engine) begin(ctx context.Context, kind string, seconds int64) error {
	_, err := e.system.Exec(ctx, `INSERT INTO public.job_schedules (kind, done_until) VALUES ($1, now()) ON CONFLICT DO NOTHING`, kind)
	if err != nil {
		return err
	}
	ahead, err := e.system.Exec(ctx, `
		UPDATE public.job_schedules SET done_until = now()
		WHERE kind = $1 AND done_until > now() + make_interval(secs => $2::bigint)`, kind, seconds)
	if ahead.RowsAffected() > 0 {
		e.log.WarnContext(ctx, "jobs: a schedule was ahead of the database's clock, and begins again now", "kind", kind)
	}
	return err
}

// catchUp bounds what is inserted after a time in which no replica ran: of the
// last interval, one such part with each tick.
const catchUp = 36

// dueSQL moves the schedule of kind $1 on, by $4 seconds at most, and inserts the
// jobs whose time lies in between: a multiple of $3 seconds, for a tenant plus
// what its slug hashes to. What was missed longer than an interval ago is not
// made up for. Where another replica has just been here ($5), nothing happens.
// A job is unique, so that one that fails does not pile up.
func dueSQL(shared bool) string {
	owners := `public.tenants t WHERE t.status = 'active'`
	if shared {
		owners = `(SELECT '' AS slug, NULL::bigint AS id) t`
	}
	return `
	WITH passed AS MATERIALIZED (
		SELECT begun AS since, least(now(), begun + make_interval(secs => $4::bigint)) AS until
		FROM (
			SELECT greatest(done_until, now() - make_interval(secs => $3::bigint)) AS begun FROM public.job_schedules
			WHERE kind = $1 AND done_until <= now() - make_interval(secs => $5::bigint) FOR UPDATE) s
	), moved AS (
		UPDATE public.job_schedules s SET done_until = passed.until FROM passed WHERE s.kind = $1
	)` + insertSQL + `
	FROM (
		SELECT $1::text AS kind, $2::jsonb AS args, t.slug AS tenant, now() AS at, true AS once, t.id AS tenant_id,
			floor(extract(epoch FROM since))::bigint AS since, floor(extract(epoch FROM until))::bigint AS until,
			CASE WHEN t.slug = '' THEN 0 ELSE abs(hashtext(t.slug)::bigint) % $3::bigint END AS shift
		FROM passed CROSS JOIN ` + owners + `) j
	WHERE (j.until - j.shift) / $3::bigint > (j.since - j.shift) / $3::bigint` + unlessThere
}
