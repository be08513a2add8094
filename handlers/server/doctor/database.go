package doctor

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/jobs"
)

// database has a line for each finding of the checkup.
func (d *Doctor) database(ctx context.Context) (lines []Line) {
	findings, err := d.DB.Checkup(ctx)
	if err != nil {
		return failure("it cannot be asked: "+err.Error(), "start PostgreSQL, or correct DATABASE_URL")
	}
	for _, f := range findings {
		line := Line{Check: f.Name, Status: string(f.Severity), Detail: f.Sentence}
		if f.Severity != tenancy.OK {
			line.Fix = cmp.Or(f.Statement, "correct that at the server, or have DATABASE_URL lead to another")
		}
		lines = append(lines, line)
	}
	return lines
}

// databaseOffset is by how much the database's clock is ahead of ours.
func (d *Doctor) databaseOffset(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	var theirs time.Time
	before := time.Now()
	err := d.DB.System().QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&theirs)
	return theirs.Sub(before.Add(time.Since(before) / 2)), err
}

// lateEvent is the age from which a pending event is one for a person to look
// at: several attempts have failed by then, or no server runs.
const lateEvent = 5 * time.Minute

// events is one line on the inbox.
func (d *Doctor) events(ctx context.Context) []Line {
	b, err := inbox.ReadStatistics(ctx, d.DB.System())
	if err != nil {
		return warning("the inbox cannot be read: "+err.Error(), "run `migrate`")
	}
	said := fmt.Sprintf("pending: %d; failed: %d", b.Pending, b.Failed)
	if b.Pending > 0 {
		said += fmt.Sprintf("; the oldest pending came %s ago", b.OldestPending.Round(time.Second))
	}
	switch {
	case b.Failed > 0:
		return warning(said, "see `events list --status failed`, repair the cause, then `events retry --all-failed`")
	case b.OldestPending > lateEvent:
		return warning(said, "see `events list --status pending` and `events show ID`; does a server run?")
	}
	return ok(said)
}

// lateJob is from when on a job that is due is looked at.
const lateJob = 15 * time.Minute

// jobs is one line on the product's background jobs.
func (d *Doctor) jobs(ctx context.Context) []Line {
	c, err := jobs.Count(ctx, d.DB)
	if err != nil {
		return warning("the jobs cannot be read: "+err.Error(), "run `migrate`")
	}
	said := fmt.Sprintf("pending: %d; running: %d; failed: %d", c.Pending, c.Running, c.Failed)
	var waited time.Duration
	if c.OldestDue != nil {
		waited = time.Since(*c.OldestDue)
		said += fmt.Sprintf("; the first that is due has waited %s", waited.Round(time.Second))
	}
	switch {
	case c.Failed > 0:
		return warning(said, "see `jobs list --status failed`, repair the cause, then `jobs retry ID`")
	case waited > lateJob:
		return warning(said, "see `jobs list --status pending`; does a server run that knows them?")
	}
	return ok(said)
}
