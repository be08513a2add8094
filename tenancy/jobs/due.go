package jobs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// RunDue runs the jobs that are due, one after the other in the order in which
// Run begins them, and those that they insert, until none is due. It is for
// tests: nothing else works jobs of this database then. The engine is closed
// afterwards.
func (e *Engine) RunDue(ctx context.Context) error {
	if e.river == nil {
		return nil
	}
	defer e.system.Close()
	e.options.Slots, e.options.Poll = 1, 5*time.Millisecond
	alone, err := e.newRiver(true)
	if err == nil {
		err = e.promote(ctx)
	}
	if err == nil {
		err = alone.Start(ctx)
	}
	if err != nil {
		return fmt.Errorf("run jobs: %w", err)
	}
	for left := 1; left > 0 && err == nil && ctx.Err() == nil; {
		if err = e.promote(ctx); err == nil {
			err = e.system.QueryRow(ctx, `
				SELECT count(*) FROM public.river_job
				WHERE state = 'running' OR state = 'available' AND scheduled_at <= now() AND kind = ANY ($1)`, slices.Collect(maps.Keys(e.handlers))).Scan(&left)
		}
		time.Sleep(e.options.Poll)
	}
	return errors.Join(err, alone.Stop(context.WithoutCancel(ctx)))
}

// promote makes available what is due, as River's leader does in a server.
func (e *Engine) promote(ctx context.Context) error {
	_, err := e.system.Exec(ctx, `
		UPDATE public.river_job SET state = 'available' WHERE state IN ('retryable', 'scheduled') AND scheduled_at <= now()`)
	return err
}
