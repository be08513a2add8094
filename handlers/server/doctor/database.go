package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
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
func (d *Doctor) databaseOffset() (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var theirs time.Time
	before := time.Now()
	err := d.DB.System().QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&theirs)
	return theirs.Sub(before.Add(time.Since(before) / 2)), err
}

// schema is one line on the shared schema, the tenants' versions and drift.
func (d *Doctor) schema(ctx context.Context) []Line {
	err := d.DB.CheckShared(ctx)
	if behind := (*tenancy.BehindError)(nil); errors.As(err, &behind) && d.Config.MigrateOnStart {
		return warning(fmt.Sprintf("the shared schema is at version %d of %d (%s)", behind.Have, behind.Want, behind.Table), "the next start migrates it, or run `migrate`")
	}
	if err != nil {
		return failure(err.Error(), "run `migrate`")
	}
	versions, failed, err := d.DB.Versions(ctx)
	if err != nil {
		return failure(err.Error(), "")
	}
	s := fleet{latest: d.DB.LatestVersion(), versions: versions, failed: len(failed), onUse: d.Config.MigrateOnStart}
	s.drift = d.DB.FindDrift(ctx, 2, func(tenancy.Drift) { s.differences++ })
	return s.line()
}

// fleet is what the tenants' schemas are like.
type fleet struct {
	latest              int64
	versions            map[int64]int
	failed, differences int
	onUse               bool  // those that are behind are migrated when they are used
	drift               error // why the differences are not known
}

func (s fleet) line() []Line {
	line := Line{Status: OK, Detail: fmt.Sprintf("the shared schema is current; tenants at version %d: %d", s.latest, s.versions[s.latest])}
	var fixes []string
	add := func(n int, status, what, fix string) {
		if n == 0 {
			return
		}
		line.Detail += fmt.Sprintf("; %s: %d", what, n)
		line.Status, fixes = worse(line.Status, status), append(fixes, fix)
	}
	older, newer := 0, 0
	for version, n := range s.versions {
		if version < s.latest {
			older += n
		} else if version > s.latest {
			newer += n
		}
	}
	if s.onUse {
		add(older, Warning, "behind", "they are migrated when they are used, or run `migrate`")
	} else {
		add(older, Failure, "behind", "run `migrate`")
	}
	add(newer, Warning, "ahead of this program", "run the newer program again")
	add(s.failed, Failure, "failed to migrate", "see `migrate --status`, repair the cause, run `migrate`")
	add(s.differences, Warning, "differences from a fresh schema", "see `migrate --drift`")
	if s.drift != nil {
		line.Detail += "; drift is not known: " + s.drift.Error()
		line.Status, fixes = worse(line.Status, Warning), append(fixes, "see `migrate --drift`, which takes its time")
	}
	line.Fix = strings.Join(fixes, "; ")
	return []Line{line}
}

func worse(a, b string) string {
	if a == Failure || b == OK {
		return a
	}
	return b
}

// lateEvent is the age from which a pending event is one for a person to look
// at: several attempts have failed by then, or no server runs.
const lateEvent = 5 * time.Minute

// events is one line on the inbox.
func (d *Doctor) events(ctx context.Context) []Line {
	b, err := inbox.ReadBacklog(ctx, d.DB)
	if err != nil {
		return warning("the inbox cannot be read: "+err.Error(), "run `migrate`")
	}
	line := Line{Status: OK, Detail: fmt.Sprintf("pending: %d; failed: %d", b.Pending, b.Failed)}
	if b.Pending > 0 {
		line.Detail += fmt.Sprintf("; the oldest pending came %s ago", b.Oldest.Round(time.Second))
	}
	switch {
	case b.Failed > 0:
		line.Status, line.Fix = Warning, "see `events list --status failed`, repair the cause, then `events retry --all-failed`"
	case b.Oldest > lateEvent:
		line.Status, line.Fix = Warning, "see `events list --status pending` and `events show ID`; does a server run?"
	}
	return []Line{line}
}
