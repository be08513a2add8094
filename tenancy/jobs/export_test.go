package jobs

import "context"

// InsertDue is one look at the schedules.
func (e *Engine) InsertDue(ctx context.Context) error { return e.insertDue(ctx) }
