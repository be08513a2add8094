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

// jobsFlags is a call of Jobs.
type jobsFlags struct {
	word, name string // what to do; the schedule that is run
	id         int64
	only       tenancy.Slug
	status     string
	limit      int
	json       bool
}

// Jobs looks into the background jobs, has one run again or not at all, and has
// those of a schedule run now; declare is the product's, nil where it has none.
// Beside ErrUsage the command returns jobs.ErrUnknownJob, jobs.ErrNotRetryable
// and jobs.ErrFinished.
func Jobs(declare func(*tenancy.DB) []jobs.Declared) func(ctx context.Context, db *tenancy.DB, args []string, stdout io.Writer) error {
	return func(ctx context.Context, db *tenancy.DB, args []string, stdout io.Writer) error {
		f, err := parseJobs(args, stdout)
		if err != nil {
			return err
		}
		return f.dispatch(ctx, db, declare, stdout)
	}
}

// CheckJobs refuses a wrong call of Jobs, for which it needs no database.
func CheckJobs(args []string) error {
	_, err := parseJobs(args, io.Discard)
	return err
}

func parseJobs(args []string, stdout io.Writer) (f jobsFlags, err error) {
	set := flags.New("jobs", jobsUsage)
	set.StringVar(&f.status, "status", "", "list only the pending, running, done, failed or cancelled ones")
	tenant := set.String("tenant", "", "list, run: those of this tenant alone")
	set.IntVar(&f.limit, "limit", 100, "list at most so many, the newest")
	set.BoolVar(&f.json, "json", false, "print one JSON document (list, show)")
	words, err := jobsTake.Parse(set, args, stdout)
	if err != nil {
		return f, err
	}
	if *tenant != "" {
		if f.only, err = tenancy.ParseSlug(*tenant); err != nil {
			return f, flags.Refuse("%v", err)
		}
	}
	return f, f.read(words)
}

func (f *jobsFlags) read(words []string) (err error) {
	statuses := []string{"", jobs.Pending, jobs.Running, jobs.Done, jobs.Failed, jobs.Cancelled}
	switch {
	case len(words) == 1 && words[0] == "list" && slices.Contains(statuses, f.status) && f.limit > 0:
		f.word = words[0]
		return nil
	case len(words) != 2 || words[0] == "list" || jobsTake[words[0]] == nil:
		return flags.Refuse(jobsUsage)
	}
	f.word, f.name = words[0], words[1]
	if f.word == "run" {
		return nil
	}
	if f.id, err = strconv.ParseInt(f.name, 10, 64); err != nil {
		return flags.Refuse("%q is no job's id", f.name)
	}
	return nil
}

func (f jobsFlags) dispatch(ctx context.Context, db *tenancy.DB, declare func(*tenancy.DB) []jobs.Declared, stdout io.Writer) error {
	switch f.word {
	case "list":
		return errorOr(db.CheckShared(ctx), func() error { return f.list(ctx, db, stdout) })
	case "run":
		return errorOr(db.CheckShared(ctx), func() error { return f.run(ctx, db, declare, stdout) })
	case "show":
		return f.show(ctx, db, stdout)
	case "retry":
		return changeJob(ctx, db, f.id, jobs.Retry, "is run again by the next server that looks", stdout)
	case "cancel":
		return changeJob(ctx, db, f.id, jobs.Cancel, "is cancelled: where it runs at the moment, its context ends within seconds, and it is not tried again", stdout)
	}
	return flags.Refuse(jobsUsage)
}

func (f jobsFlags) list(ctx context.Context, db *tenancy.DB, stdout io.Writer) error {
	if err := f.known(ctx, db); err != nil {
		return err
	}
	found, err := jobs.List(ctx, db, f.only, f.status, f.limit)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(stdout, found)
	}
	return printJobs(stdout, found)
}

func (f jobsFlags) run(ctx context.Context, db *tenancy.DB, declare func(*tenancy.DB) []jobs.Declared, stdout io.Writer) error {
	if err := f.known(ctx, db); err != nil {
		return err
	}
	var declared []jobs.Declared
	if declare != nil {
		declared = declare(db)
	}
	names := jobs.Schedules(declared)
	if !slices.Contains(names, f.name) {
		return flags.Refuse("no schedule is called %q; there are: %v", f.name, names)
	}
	n, err := jobs.RunNow(ctx, db, declared, f.name, f.only)
	switch {
	case errors.Is(err, jobs.ErrSharedSchedule):
		return flags.Usage(err)
	case err == nil:
		_, err = fmt.Fprintf(stdout, "jobs that are run by the next server that looks: %d\n", n)
	}
	return err
}

// known returns an error where there is no tenant as --tenant names one.
func (f jobsFlags) known(ctx context.Context, db *tenancy.DB) error {
	if f.only.IsZero() {
		return nil
	}
	_, err := db.Tenant(ctx, f.only)
	return err
}

func (f jobsFlags) show(ctx context.Context, db *tenancy.DB, stdout io.Writer) error {
	job, err := jobs.Show(ctx, db, f.id)
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
