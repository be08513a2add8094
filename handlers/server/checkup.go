package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/subproduct/tenancy"
)

// errUnfit is a database on which this server would fail.
var errUnfit = errors.New("the database is not fit for this server")

// checkup logs what is not as it should be with the database. It returns
// tenancy.ErrReadOnly, which may pass, or an error that wraps errUnfit and names
// everything that does not.
func (a *app) checkup(ctx context.Context) error {
	findings, err := a.db.Checkup(ctx)
	if err != nil {
		return err
	}
	var unfit []error
	for _, f := range findings {
		switch {
		case f.Severity == tenancy.Warning:
			a.log.WarnContext(ctx, f.Sentence, "statement", f.Statement)
		case f.Severity == tenancy.Failure && f.Name == tenancy.CheckReadOnly:
			return fmt.Errorf("%w: %s", tenancy.ErrReadOnly, f.Sentence)
		case f.Severity == tenancy.Failure:
			unfit = append(unfit, fmt.Errorf("%w: %s: %s", errUnfit, f.Sentence, f.Statement))
		}
	}
	return errors.Join(unfit...)
}

// retryPause is how long to wait for a database that does not answer.
const retryPause = time.Second

// prepare looks at the database, then brings the shared schema up to date, or
// checks it where migrating is left to an operator. It waits for a database that
// is down or read-only, with a line in the log when that begins and one when it
// ends, and fails on one that refuses or that is not fit.
func (a *app) prepare(ctx context.Context) error {
	steps := []func(context.Context) error{a.checkup, a.db.MigrateShared}
	if !a.config.MigrateOnStart {
		steps[1] = a.db.CheckShared
	}
	var waiting time.Time
	for len(steps) > 0 {
		err := steps[0](ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			steps = steps[1:]
			continue
		case !tenancy.IsUnreachable(err):
			return fmt.Errorf("cannot start: %w", err)
		}
		if waiting.IsZero() {
			waiting = time.Now()
			a.log.ErrorContext(ctx, "waiting for the database", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
	if !waiting.IsZero() {
		a.log.InfoContext(ctx, "the database is there", "after_ms", time.Since(waiting).Milliseconds())
	}
	return nil
}
