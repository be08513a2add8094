package doctor

import (
	"context"
	"fmt"
	"time"

	"example.com/subproduct/tenancy/jobs"
)

// lateJob is from when on a job that is due is looked at.
const lateJob = 15 * time.Minute

// jobs is one line on the product's background jobs.
func (d *Doctor) jobs(ctx context.Context) []Line {
	c, err := jobs.Count(ctx, d.DB)
	if err != nil {
		return warning("the jobs cannot be read: "+err.Error(), "run `migrate`")
	}
	line := Line{Status: OK, Detail: fmt.Sprintf("pending: %d; running: %d; failed: %d", c.Pending, c.Running, c.Failed)}
	var waited time.Duration
	if c.OldestDue != nil {
		waited = time.Since(*c.OldestDue)
		line.Detail += fmt.Sprintf("; the first that is due has waited %s", waited.Round(time.Second))
	}
	switch {
	case c.Failed > 0:
		line.Status, line.Fix = Warning, "see `jobs list --status failed`, repair the cause, then `jobs retry ID`"
	case waited > lateJob:
		line.Status, line.Fix = Warning, "see `jobs list --status pending`; does a server run that knows them?"
	}
	return []Line{line}
}
