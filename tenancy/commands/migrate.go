package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands/flags"
)

type migrateFlags struct {
	fleet               tenancy.FleetOptions
	status, drift, json bool
}

// Migrate brings the shared schema up to date, then every tenant's. It returns
// ErrFailed when a tenant failed.
func Migrate(ctx context.Context, db *tenancy.DB, args []string, stdout io.Writer) error {
	f, err := parseMigrate(args, stdout)
	if err != nil {
		return err
	}
	switch {
	case f.status:
		return migrateStatus(ctx, db, f, stdout)
	case f.drift:
		return migrateDrift(ctx, db, f, stdout)
	}
	if err := db.MigrateShared(ctx); err != nil {
		return err
	}
	return migrateTenants(ctx, db, f, stdout)
}

// CheckMigrate refuses a wrong call of Migrate, for which it needs no database.
func CheckMigrate(args []string) error {
	_, err := parseMigrate(args, io.Discard)
	return err
}

// MigrateJobs is how many connections a call of Migrate wants.
func MigrateJobs(args []string) int {
	f, err := parseMigrate(args, io.Discard)
	if err != nil {
		return 1
	}
	return f.fleet.Jobs + 1
}

func parseMigrate(args []string, stdout io.Writer) (f migrateFlags, err error) {
	set := flags.New("migrate", "migrate [FLAGS]")
	set.IntVar(&f.fleet.Jobs, "jobs", 4, "tenants at the same time, each on a connection")
	set.IntVar(&f.fleet.Canary, "canary", 0, "bring so many tenants up first, and stop if one of them fails")
	set.IntVar(&f.fleet.MaxFailures, "max-failures", 0, "stop after so many failures; 0: never")
	only := set.String("tenant", "", "this tenant alone")
	set.BoolVar(&f.status, "status", false, "change nothing: how many tenants are at which version, and who failed; --tenant asks of one")
	set.BoolVar(&f.drift, "drift", false, "change nothing: compare each tenant's catalog with a freshly built one")
	set.BoolVar(&f.json, "json", false, "print one JSON document")
	err = flags.ParseOnly(set, args, stdout)
	switch {
	case err != nil:
		return f, err
	case f.fleet.Jobs < 1 || f.fleet.Jobs > 500:
		return f, flags.Refuse("--jobs must be from 1 to 500")
	case f.fleet.Canary < 0 || f.fleet.MaxFailures < 0:
		return f, flags.Refuse("--canary and --max-failures must not be negative")
	case f.status && f.drift:
		return f, flags.Refuse("--status and --drift are two questions: ask one at a time")
	case f.drift && *only != "":
		return f, flags.Refuse("--drift compares every tenant: it takes no --tenant")
	case (f.status || f.drift) && (f.fleet.Canary > 0 || f.fleet.MaxFailures > 0):
		return f, flags.Refuse("--status and --drift change nothing: --canary and --max-failures are not for them")
	}
	if *only != "" {
		if f.fleet.Only, err = tenancy.ParseSlug(*only); err != nil {
			return f, flags.Refuse("--tenant: %v", err)
		}
	}
	return f, nil
}

type migrateReport struct {
	Target    int64                   `json:"target"`
	Migrated  int                     `json:"migrated"`
	Unchanged int                     `json:"unchanged"`
	Failed    []tenancy.TenantFailure `json:"failed"`
}

func migrateTenants(ctx context.Context, db *tenancy.DB, f migrateFlags, stdout io.Writer) error {
	if !f.fleet.Only.IsZero() {
		if _, err := db.Tenant(ctx, f.fleet.Only); err != nil {
			return err
		}
	}
	p := newProgress(f.json)
	f.fleet.Progress = p.show
	result, runErr := db.MigrateTenants(ctx, f.fleet)
	p.end()
	if runErr != nil && !errors.Is(runErr, tenancy.ErrStopped) {
		return runErr
	}
	versions, _, err := db.Versions(ctx, f.fleet.Only)
	if err != nil {
		return err
	}
	report := migrateReport{Target: result.Target, Migrated: result.Migrated, Failed: result.Failed}
	report.Unchanged = max(versions[result.Target]-result.Migrated, 0)
	if report.Failed == nil {
		report.Failed = []tenancy.TenantFailure{}
	}
	if err := report.print(stdout, f.json); err != nil {
		return err
	}
	if runErr != nil {
		return runErr
	}
	if n := len(result.Failed); n > 0 {
		return fmt.Errorf("%w: %d tenants are not at version %d; repair the cause and run it again", ErrFailed, n, result.Target)
	}
	return nil
}

func (r migrateReport) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return printJSON(w, r)
	}
	fmt.Fprintf(w, "version %d: %d migrated, %d were there, %d failed\n", r.Target, r.Migrated, r.Unchanged, len(r.Failed))
	for _, f := range r.Failed {
		fmt.Fprintf(w, "  %s\n", Printable(f.Error))
	}
	return nil
}

func migrateStatus(ctx context.Context, db *tenancy.DB, f migrateFlags, w io.Writer) error {
	versions, failed, err := db.Versions(ctx, f.fleet.Only)
	if err != nil {
		return err
	}
	if only := f.fleet.Only; !only.IsZero() && len(versions) == 0 {
		return fmt.Errorf("%s: %w", only, tenancy.ErrUnknownTenant)
	}
	target := db.LatestVersion()
	if f.json {
		named := map[string]int{}
		for version, n := range versions {
			named[strconv.FormatInt(version, 10)] = n
		}
		return printJSON(w, map[string]any{"target": target, "versions": named, "failed": failed})
	}
	fmt.Fprintf(w, "this program's version: %d\n\nversion  tenants\n", target)
	for _, version := range slices.Sorted(maps.Keys(versions)) {
		fmt.Fprintf(w, "%7d  %7d%s\n", version, versions[version], remark(version, target))
	}
	if len(failed) > 0 {
		fmt.Fprintf(w, "\nfailed:\n")
	}
	for _, f := range failed {
		fmt.Fprintf(w, "  %s\n", Printable(f.Error))
	}
	return nil
}

func remark(version, target int64) string {
	switch {
	case version < target:
		return "  behind"
	case version > target:
		return "  ahead of this program"
	}
	return ""
}
