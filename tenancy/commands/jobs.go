package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands/flags"
	"example.com/subproduct/tenancy/jobs"
)

const jobsUsage = "jobs list [--status pending|running|done|failed|cancelled] [--tenant SLUG] [--limit N] [--json] | show ID [--json] | retry ID | cancel ID | run NAME [--tenant SLUG]"

var jobsTake = flags.Takes{
	"list": {"status", "tenant", "limit", "json"}, "show": {"json"}, "retry": {}, "cancel": {}, "run": {"tenant"},
}

type jobsFlags struct {
	status, tenant string
	limit          int
	json           bool
}

// Jobs looks into the background jobs, has one run again or not at all, and has
// those of a schedule run now; declare is the product's, nil where it has none.
// Beside ErrUsage the command returns jobs.ErrUnknownJob, jobs.ErrNotRetryable
// and jobs.ErrFinished.
func Jobs(declare func(*tenancy.DB) []jobs.Declared) func(ctx context.Context, db *tenancy.DB, args []string, stdout io.Writer) error {
	return func(ctx context.Context, db *tenancy.DB, args []string, stdout io.Writer) error {
		var f jobsFlags
		set := flags.New("jobs", jobsUsage)
		set.StringVar(&f.status, "status", "", "list only the pending, running, done, failed or cancelled ones")
		set.StringVar(&f.tenant, "tenant", "", "list, run: those of this tenant alone")
		set.IntVar(&f.limit, "limit", 100, "list at most so many, the newest")
		set.BoolVar(&f.json, "json", false, "print one JSON document (list, show)")
		words, err := jobsTake.Parse(set, args, stdout)
		if err != nil {
			return err
		}
		return f.dispatch(ctx, db, declare, words, stdout)
	}
}

func (f jobsFlags) dispatch(ctx context.Context, db *tenancy.DB, declare func(*tenancy.DB) []jobs.Declared, words []string, stdout io.Writer) error {
	switch {
	case len(words) == 1 && words[0] == "list":
		return errorOr(db.CheckShared(ctx), func() error { return f.list(ctx, db, stdout) })
	case len(words) == 2 && words[0] == "run":
		return errorOr(db.CheckShared(ctx), func() error { return f.run(ctx, db, declare, words[1], stdout) })
	case len(words) != 2:
		return flags.Refuse(jobsUsage)
	}
	id, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil {
		return flags.Refuse("%q is no job's id", words[1])
	}
	switch words[0] {
	case "show":
		return f.show(ctx, db, id, stdout)
	case "retry":
		return changeJob(ctx, db, id, jobs.Retry, "is run again by the next server that looks", stdout)
	case "cancel":
		return changeJob(ctx, db, id, jobs.Cancel, "is cancelled: where it runs at the moment, its context ends within seconds, and it is not tried again", stdout)
	}
	return flags.Refuse(jobsUsage)
}

func (f jobsFlags) list(ctx context.Context, db *tenancy.DB, stdout io.Writer) error {
	statuses := []string{"", jobs.Pending, jobs.Running, jobs.Done, jobs.Failed, jobs.Cancelled}
	if !slices.Contains(statuses, f.status) || f.limit < 1 {
		return flags.Refuse(jobsUsage)
	}
	only, err := f.only(ctx, db)
	if err != nil {
		return err
	}
	found, err := jobs.List(ctx, db, only, f.status, f.limit)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(stdout, found)
	}
	return printJobs(stdout, found)
}

func (f jobsFlags) run(ctx context.Context, db *tenancy.DB, declare func(*tenancy.DB) []jobs.Declared, name string, stdout io.Writer) error {
	only, err := f.only(ctx, db)
	if err != nil {
		return err
	}
	var declared []jobs.Declared
	if declare != nil {
		declared = declare(db)
	}
	names := jobs.Schedules(declared)
	if !slices.Contains(names, name) {
		return flags.Refuse("no schedule is called %q; there are: %v", name, names)
	}
	n, err := jobs.RunNow(ctx, db, declared, name, only)
	switch {
	case errors.Is(err, jobs.ErrSharedSchedule):
		return flags.Usage(err)
	case err == nil:
		_, err = fmt.Fprintf(stdout, "jobs that are run by the next server that looks: %d\n", n)
	}
	return err
}

// only is the tenant of --tenant, the zero Slug where it was not said.
func (f jobsFlags) only(ctx context.Context, db *tenancy.DB) (slug tenancy.Slug, err error) {
	if f.tenant == "" {
		return slug, nil
	}
	if slug, err = tenancy.ParseSlug(f.tenant); err != nil {
		return slug, flags.Refuse("%v", err)
	}
	_, err = db.Tenant(ctx, slug)
	return slug, err
}

func (f jobsFlags) show(ctx context.Context, db *tenancy.DB, id int64, stdout io.Writer) error {
	job, err := jobs.Show(ctx, db, id)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(stdout, struct {
			jobs.Record
			Args   json.RawMessage `json:"args"`
			Errors []jobs.Attempt  `json:"errors"`
		}{job, json.RawMessage(job.Args), job.Errors})
	}
	return printJob(stdout, job)
}

func changeJob(ctx context.Context, db *tenancy.DB, id int64, change func(context.Context, *tenancy.DB, int64) error, done string, stdout io.Writer) error {
	if err := change(ctx, db, id); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "job %d %s\n", id, done)
	return err
}
