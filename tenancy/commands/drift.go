package commands

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"example.com/subproduct/tenancy"
)

func migrateDrift(ctx context.Context, db *tenancy.DB, f migrateFlags, w io.Writer) error {
	found := []tenancy.Drift{}
	if err := db.FindDrift(ctx, f.fleet.Jobs, func(d tenancy.Drift) { found = append(found, d) }); err != nil {
		return err
	}
	versions, _, err := db.Versions(ctx, tenancy.Slug{})
	if err != nil {
		return err
	}
	slices.SortStableFunc(found, func(a, b tenancy.Drift) int { return strings.Compare(a.Slug, b.Slug) })
	if err := printDrift(w, found, db.LatestVersion(), f.json); err != nil {
		return err
	}
	notes := w
	if f.json {
		notes = os.Stderr // the document is the list of differences
	}
	printNotCompared(notes, versions, db.LatestVersion())
	if len(found) > 0 {
		return fmt.Errorf("%w: %d differences from the schema of version %d", ErrFailed, len(found), db.LatestVersion())
	}
	return nil
}

func printDrift(w io.Writer, found []tenancy.Drift, target int64, asJSON bool) error {
	if asJSON {
		return printJSON(w, found)
	}
	for _, d := range found {
		fmt.Fprintln(w, d)
	}
	if len(found) == 0 {
		fmt.Fprintf(w, "no tenant at version %d differs from it\n", target)
	}
	return nil
}

// printNotCompared says how many tenants are at another version than the one that
// this program can build.
func printNotCompared(w io.Writer, versions map[int64]int, target int64) {
	behind, ahead := 0, 0
	for version, n := range versions {
		switch {
		case version < target:
			behind += n
		case version > target:
			ahead += n
		}
	}
	if behind > 0 {
		fmt.Fprintf(w, "not compared: tenants that are behind: %d; run `migrate` first\n", behind)
	}
	if ahead > 0 {
		fmt.Fprintf(w, "not compared: tenants that are ahead of this program: %d; ask the newer program\n", ahead)
	}
}
