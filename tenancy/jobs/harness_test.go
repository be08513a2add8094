package jobs_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/jobs"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// note writes its text into the tenant's table; seen and shared say otherwise
// what a handler does.
type note struct{ Text string }

func (note) Kind() string { return "note" }

type sweep struct{}

func (sweep) Kind() string { return "sweep" }

// harness is a database with an engine of one product.
type harness struct {
	url string
	db  *tenancy.DB
}

var notes = fstest.MapFS{"000001_notes.up.sql": {Data: []byte("CREATE TABLE notes (text text PRIMARY KEY)")}}

func newHarness(t testing.TB) *harness {
	t.Helper()
	return openHarness(t, pgtest.URL(t))
}

// openHarness is one more replica where the database has one.
func openHarness(t testing.TB, url string) *harness {
	t.Helper()
	db, err := tenancy.Open(context.Background(), tenancy.Options{URL: url, Tenant: notes, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(db.Close)
	must(t, db.MigrateShared(t.Context()))
	return &harness{url, db}
}

// tenant makes a tenant and returns its context.
func (o *harness) tenant(t testing.TB, name string) context.Context {
	t.Helper()
	slug := slugOf(t, name)
	must(t, o.db.Provision(t.Context(), slug))
	found, err := o.db.Tenant(t.Context(), slug)
	must(t, err)
	return tenancy.WithTenant(t.Context(), found)
}

func (o *harness) insert(t testing.TB, ctx context.Context, args jobs.Args, options ...jobs.Option) {
	t.Helper()
	must(t, o.db.InTx(ctx, func(tx pgx.Tx) error { return jobs.Insert(ctx, tx, args, options...) }))
}

func (o *harness) insertShared(t testing.TB, args jobs.Args, options ...jobs.Option) {
	t.Helper()
	must(t, o.db.InShared(t.Context(), func(tx pgx.Tx) error { return jobs.InsertShared(t.Context(), tx, args, options...) }))
}

// runDue runs what is due with an engine of its own.
func (o *harness) runDue(t testing.TB, declared ...jobs.Declared) {
	t.Helper()
	must(t, o.engine(t, jobs.Options{}, declared...).RunDue(t.Context()))
}

func (o *harness) engine(t testing.TB, options jobs.Options, declared ...jobs.Declared) *jobs.Engine {
	t.Helper()
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	e, err := jobs.New(o.db, declared, options)
	must(t, err)
	return e
}

// start runs an engine as a server does, until the test ends or stop is called.
func (o *harness) start(t testing.TB, options jobs.Options, declared ...jobs.Declared) (stop func()) {
	t.Helper()
	if options.Poll == 0 {
		options.Poll = 10 * time.Millisecond
	}
	e := o.engine(t, options, declared...)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); e.Run(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// write is the handler that writes a note into its tenant's table.
func (o *harness) write(ctx context.Context, n note) error {
	return o.db.InTx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO notes (text) VALUES ($1)`, n.Text)
		return err
	})
}

// only is the one job that there is, as Show has it.
func (o *harness) only(t testing.TB) jobs.Record {
	t.Helper()
	list, err := jobs.List(t.Context(), o.db, tenancy.Slug{}, "", 10)
	must(t, err)
	if len(list) != 1 {
		t.Fatalf("%d jobs, want one: %+v", len(list), list)
	}
	job, err := jobs.Show(t.Context(), o.db, list[0].ID)
	must(t, err)
	return job
}

// soon makes what waits for its time due.
func (o *harness) soon(t testing.TB) {
	t.Helper()
	pgtest.Exec(t, o.url, `UPDATE public.river_job SET scheduled_at = now() WHERE finalized_at IS NULL AND state <> 'running'`)
}

func slugOf(t testing.TB, name string) tenancy.Slug {
	t.Helper()
	slug, err := tenancy.ParseSlug(name)
	must(t, err)
	return slug
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func await(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
