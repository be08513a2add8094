package commands_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands"
	"example.com/subproduct/tenancy/commands/flags"
	"example.com/subproduct/tenancy/jobs"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// chore is a job that fails, for good, when it says so.
type chore struct{ Fails bool }

func (chore) Kind() string { return "chore" }

// sweep is a job of no tenant.
type sweep struct{}

func (sweep) Kind() string { return "sweep" }

func chores(*tenancy.DB) []jobs.Declared {
	return []jobs.Declared{
		jobs.Handle(func(_ context.Context, c chore) error {
			if c.Fails {
				return jobs.Permanent(errors.New("first line\nsecond line"))
			}
			return nil
		}),
		jobs.EveryTenant(time.Hour, chore{}),
		jobs.Shared(func(context.Context, sweep) error { return nil }),
		jobs.Every(time.Hour, sweep{}),
	}
}

// household is a database with a done job, a failed one and one that waits.
func household(t *testing.T) *tenancy.DB {
	t.Helper()
	db := open(t, pgtest.URL(t), fstest.MapFS{})
	must(t, db.MigrateShared(t.Context()))
	slug, err := tenancy.ParseSlug("acme")
	must(t, err)
	must(t, db.Provision(t.Context(), slug))
	acme, err := db.Tenant(t.Context(), slug)
	must(t, err)
	ctx := tenancy.WithTenant(t.Context(), acme)
	insert := func(c chore, options ...jobs.Option) {
		must(t, db.InTx(ctx, func(tx pgx.Tx) error { return jobs.Insert(ctx, tx, c, options...) }))
	}
	insert(chore{})
	insert(chore{Fails: true})
	insert(chore{}, jobs.In(time.Hour))
	engine, err := jobs.New(db, chores(db), jobs.Options{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	must(t, engine.RunDue(t.Context()))
	return db
}

func runJobs(t *testing.T, db *tenancy.DB, args ...string) (string, error) {
	t.Helper()
	return call(t, db, func(ctx context.Context, db *tenancy.DB, args []string, out *strings.Builder) error {
		return commands.Jobs(chores)(ctx, db, args, out)
	}, nil, args...)
}

// listed are the statuses of the jobs, newest first.
func listed(t *testing.T, db *tenancy.DB, args ...string) (ids []int64, statuses string) {
	t.Helper()
	out, err := runJobs(t, db, append([]string{"list", "--json"}, args...)...)
	must(t, err)
	var found []jobs.Record
	must(t, json.Unmarshal([]byte(out), &found))
	for _, job := range found {
		ids, statuses = append(ids, job.ID), statuses+" "+job.Status
	}
	return ids, strings.TrimSpace(statuses)
}

func TestJobs_ListAndShow(t *testing.T) {
	t.Parallel()
	db := household(t)
	ids, statuses := listed(t, db)
	if statuses != "pending failed done" {
		t.Fatalf("%s", statuses)
	}
	for _, status := range []string{"pending", "failed", "done"} {
		if _, got := listed(t, db, "--status", status); got != status {
			t.Errorf("--status %s: %s", status, got)
		}
	}
	if _, got := listed(t, db, "--status", "running"); got != "" {
		t.Errorf("running: %s", got)
	}
	if out, err := runJobs(t, db, "list"); err != nil || !strings.Contains(out, "first line…") || strings.Contains(out, "second line") {
		t.Errorf("%s, %v", out, err)
	}
	out, err := runJobs(t, db, "show", strconv.FormatInt(ids[1], 10))
	for _, want := range []string{"chore", "acme", "failed", "second line", `{"Fails": true}`} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("no %q in %s, %v", want, out, err)
		}
	}
}

func TestJobs_ShowAsJSON(t *testing.T) {
	t.Parallel()
	db := household(t)
	ids, _ := listed(t, db)
	out, err := runJobs(t, db, "show", strconv.FormatInt(ids[1], 10), "--json")
	must(t, err)
	var shown struct {
		ID     int64
		Status string
		Args   chore
		Errors []struct{ Error string }
	}
	must(t, json.Unmarshal([]byte(out), &shown))
	if shown.ID != ids[1] || shown.Status != "failed" || !shown.Args.Fails || len(shown.Errors) != 1 || !strings.Contains(shown.Errors[0].Error, "second line") {
		t.Errorf("%+v of %s", shown, out)
	}
}

func TestJobs_RetryAndCancel(t *testing.T) {
	t.Parallel()
	db := household(t)
	ids, _ := listed(t, db)
	waits, failed, done := strconv.FormatInt(ids[0], 10), strconv.FormatInt(ids[1], 10), strconv.FormatInt(ids[2], 10)
	for _, args := range [][]string{{"cancel", waits}, {"retry", failed}} {
		if out, err := runJobs(t, db, args...); err != nil || !strings.HasPrefix(out, "job "+args[1]+" ") {
			t.Errorf("%v: %q, %v", args, out, err)
		}
	}
	if _, statuses := listed(t, db); statuses != "cancelled pending done" {
		t.Errorf("%s", statuses)
	}
	if _, err := runJobs(t, db, "retry", waits); err != nil {
		t.Error(err)
	}
	if job, err := jobs.Show(t.Context(), db, ids[0]); err != nil || job.Status != jobs.Pending || time.Until(job.DueAt) > time.Minute {
		t.Errorf("%+v, %v; want it due", job, err)
	}
	for want, args := range map[error][]string{jobs.ErrFinished: {"cancel", done}, jobs.ErrUnknownJob: {"retry", "4711"}} {
		if _, err := runJobs(t, db, args...); !errors.Is(err, want) {
			t.Errorf("%v: %v, want %v", args, err, want)
		}
	}
}

// A job that is running is not run a second time, nor one whose like is pending.
func TestJobs_RetryOfWhatRunsIsRefused(t *testing.T) {
	t.Parallel()
	db := household(t)
	ids, _ := listed(t, db)
	failed := strconv.FormatInt(ids[1], 10)
	set := func(sql string) {
		_, err := db.System().Exec(t.Context(), sql)
		must(t, err)
	}
	set(`UPDATE public.river_job SET state = 'running', finalized_at = NULL WHERE id = ` + failed)
	if _, err := runJobs(t, db, "retry", failed); !errors.Is(err, jobs.ErrNotRetryable) {
		t.Errorf("%v, want ErrNotRetryable", err)
	}
	if out, err := runJobs(t, db, "cancel", failed); err != nil || !strings.Contains(out, "not tried again") {
		t.Errorf("%q, %v", out, err)
	}
	set(`UPDATE public.river_job SET state = 'completed', finalized_at = now() WHERE id = ` + failed)
	set(`UPDATE public.river_job SET unique_key = '\x01', unique_states = B'11110001'  WHERE id = ` + failed)
	set(`UPDATE public.river_job SET unique_key = '\x01', unique_states = B'11110001'  WHERE id = ` + strconv.FormatInt(ids[0], 10))
	if _, err := runJobs(t, db, "retry", failed); !errors.Is(err, jobs.ErrNotRetryable) {
		t.Errorf("%v, want ErrNotRetryable", err)
	}
}

func TestJobs_RunASchedule(t *testing.T) {
	t.Parallel()
	db := household(t)
	for _, c := range []struct {
		args []string
		want string
	}{{[]string{"run", "chore", "--tenant", "acme"}, ": 1\n"}, {[]string{"run", "chore"}, ": 0\n"}} { // which is not finished
		if out, err := runJobs(t, db, c.args...); err != nil || !strings.HasSuffix(out, c.want) {
			t.Errorf("%v: %q, %v", c.args, out, err)
		}
	}
	if _, err := runJobs(t, db, "run", "chore", "--tenant", "nobody"); !errors.Is(err, tenancy.ErrUnknownTenant) {
		t.Errorf("%v, want ErrUnknownTenant", err)
	}
}

// --tenant lists the jobs of one tenant: not those of others, nor the shared ones.
func TestJobs_ListOfOneTenant(t *testing.T) {
	t.Parallel()
	db := household(t)
	must(t, db.Provision(t.Context(), slugOf(t, "globex")))
	for _, args := range [][]string{{"run", "chore", "--tenant", "globex"}, {"run", "sweep"}} {
		if _, err := runJobs(t, db, args...); err != nil {
			t.Fatal(err)
		}
	}
	for want, args := range map[string][]string{
		"pending pending pending failed done": nil, "pending failed done": {"--tenant", "acme"}, "pending": {"--tenant", "globex"},
		"failed": {"--tenant", "acme", "--status", "failed"}, "": {"--tenant", "globex", "--status", "failed"},
	} {
		if _, got := listed(t, db, args...); got != want {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
	if _, err := runJobs(t, db, "list", "--tenant", "nobody"); !errors.Is(err, tenancy.ErrUnknownTenant) {
		t.Errorf("of nobody: %v", err)
	}
}

// What is no tenant's cannot be run for one, and says so.
func TestJobs_RunASharedScheduleForOneTenant(t *testing.T) {
	t.Parallel()
	db := household(t)
	if _, err := runJobs(t, db, "run", "sweep", "--tenant", "acme"); !errors.Is(err, flags.ErrUsage) || !errors.Is(err, jobs.ErrSharedSchedule) {
		t.Errorf("%v, want to be told that it is shared", err)
	}
	if out, err := runJobs(t, db, "run", "sweep"); err != nil || !strings.HasSuffix(out, ": 1\n") {
		t.Errorf("without the tenant: %q, %v", out, err)
	}
}

func TestJobs_WrongCalls(t *testing.T) {
	t.Parallel()
	db := household(t)
	for _, args := range [][]string{
		nil, {"list", "x"}, {"list", "--status", "retryable"}, {"list", "--limit", "0"}, {"show"}, {"show", "x"}, {"drop", "1"},
		{"run"}, {"run", "sweeps"}, {"list", "--tenant", "/"}, {"run", "chore", "--tenant", "/"}, {"--nonsense"},
	} {
		if err := commands.Jobs(chores)(t.Context(), db, args, io.Discard); !errors.Is(err, flags.ErrUsage) {
			t.Errorf("%v: %v, want ErrUsage", args, err)
		}
	}
	if err := commands.Jobs(nil)(t.Context(), db, []string{"run", "chore"}, io.Discard); !errors.Is(err, flags.ErrUsage) {
		t.Errorf("of a product without jobs: %v", err)
	}
}
