package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

// Record is a job as commands show it; in JSON its fields have these names.
type Record struct {
	ID         int64      `json:"id"`
	Kind       string     `json:"kind"`
	TenantSlug *string    `json:"tenant_slug"` // nil: it is shared
	Status     string     `json:"status"`
	Attempts   int        `json:"attempts"`
	LastError  *string    `json:"last_error"`
	CreatedAt  time.Time  `json:"created_at"`
	DueAt      time.Time  `json:"due_at"` // of pending ones
	FinishedAt *time.Time `json:"finished_at"`
	Args       string     `json:"-"` // JSON; of Show alone, as what follows
	Errors     []Attempt  `json:"-"`
}

// Attempt is one that failed.
type Attempt struct {
	At      time.Time `json:"at"`
	Attempt int       `json:"attempt"`
	Error   string    `json:"error"`
}

// Errors of Show, Retry, Cancel and RunNow.
var (
	ErrUnknownJob   = errors.New("no such job")
	ErrNotRetryable = errors.New("the job cannot be run again: it is running, or the same job is pending")
	ErrFinished     = errors.New("the job is finished")
	ErrNoSchedule   = errors.New("no such schedule")
	// ErrSharedSchedule says that a schedule has no job of one tenant.
	ErrSharedSchedule = errors.New("the schedule is shared by all tenants: run it without one")
)

// status is ours for River's, which has three kinds of pending.
const status = `CASE state WHEN 'running' THEN 'running' WHEN 'completed' THEN 'done' WHEN 'discarded' THEN 'failed'
	WHEN 'cancelled' THEN 'cancelled' ELSE 'pending' END`

const columns = `id, kind, metadata->>'tenant', ` + status + `, attempt, errors[array_upper(errors, 1)]->>'error', created_at, scheduled_at, finalized_at`

// List returns up to limit jobs, newest first: of one tenant, or of all and the
// shared ones (the zero Slug); with a status only those.
func List(ctx context.Context, db *tenancy.DB, of tenancy.Slug, only string, limit int) ([]Record, error) {
	rows, _ := db.System().Query(ctx, `
		SELECT `+columns+`, '', '[]'::jsonb FROM public.river_job
		WHERE ($1 = '' OR metadata->>'tenant' = $1) AND ($2 = '' OR `+status+` = $2) ORDER BY id DESC LIMIT $3`, of.String(), only, limit)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Record])
}

// Show returns a job, with its arguments and what was tried, oldest first, or
// ErrUnknownJob.
func Show(ctx context.Context, db *tenancy.DB, id int64) (Record, error) {
	rows, _ := db.System().Query(ctx, `
		SELECT `+columns+`, args::text, coalesce(to_jsonb(errors), '[]') FROM public.river_job WHERE id = $1`, id)
	job, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Record])
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrUnknownJob
	}
	if err != nil {
		return job, fmt.Errorf("job %d: %w", id, err)
	}
	return job, nil
}

// Retry has a job run again at once, whatever became of it, with as many attempts
// as a new one. It returns ErrUnknownJob, or ErrNotRetryable for one that is
// running.
func Retry(ctx context.Context, db *tenancy.DB, id int64) error {
	err := change(ctx, db, id, ErrNotRetryable, `
		UPDATE public.river_job SET state = 'available', attempt = 0, scheduled_at = now(), finalized_at = NULL,
			max_attempts = `+maxAttempts+`, metadata = metadata - 'cancel_attempted_at'
		WHERE id = $1 AND state <> 'running'`)
	if tenancy.IsUnique(err) {
		err = fmt.Errorf("job %d: %w", id, ErrNotRetryable)
	}
	return err
}

// Cancel keeps a job from being run, or from being tried again. The context of one
// that is running ends within seconds; where its handler returns nil all the
// same, it is done. It returns ErrUnknownJob or ErrFinished.
func Cancel(ctx context.Context, db *tenancy.DB, id int64) error {
	return change(ctx, db, id, ErrFinished, `
		UPDATE public.river_job SET state = CASE WHEN state = 'running' THEN state ELSE 'cancelled' END,
			finalized_at = CASE WHEN state = 'running' THEN NULL ELSE now() END,
			metadata = metadata || jsonb_build_object('cancel_attempted_at', now())
		WHERE id = $1 AND finalized_at IS NULL`)
}

// change runs a statement on one job, and returns refused where it found none
// that it may change.
func change(ctx context.Context, db *tenancy.DB, id int64, refused error, sql string) error {
	changed, err := db.System().Exec(ctx, sql, id)
	if err == nil && changed.RowsAffected() == 0 {
		if _, err = Show(ctx, db, id); err == nil {
			err = refused
		}
	}
	if err != nil {
		return fmt.Errorf("job %d: %w", id, err)
	}
	return nil
}
