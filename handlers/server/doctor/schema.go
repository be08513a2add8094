package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/subproduct/tenancy"
)

// schema is one line on the shared schema, the tenants' versions and drift.
func (d *Doctor) schema(ctx context.Context) []Line {
	if err := d.DB.CheckShared(ctx); err != nil {
		return d.sharedSchema(err)
	}
	versions, failed, err := d.DB.Versions(ctx, tenancy.Slug{})
	if err != nil {
		return warning(err.Error(), seeDatabase)
	}
	s := fleet{latest: d.DB.LatestVersion(), versions: versions, failed: len(failed), onUse: d.Config.MigrateOnStart}
	s.drift = d.DB.FindDrift(ctx, 2, func(tenancy.Drift) { s.differences++ })
	return s.line()
}

const seeDatabase = "see the lines on the database"

// sharedSchema says what CheckShared has found.
func (d *Doctor) sharedSchema(err error) []Line {
	behind, names := (*tenancy.BehindError)(nil), (*tenancy.NameError)(nil)
	switch {
	case errors.As(err, &names):
		return failure(err.Error(), "rename them in one of the two")
	case !errors.As(err, &behind):
		return warning("it cannot be looked at: "+err.Error(), seeDatabase)
	}
	said := fmt.Sprintf("the shared schema is at version %d of %d (%s)", behind.Have, behind.Want, behind.Table)
	if d.Config.MigrateOnStart {
		return warning(said, "the next start migrates it, or run `migrate`")
	}
	return failure(said, "run `migrate`")
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
