package jobs

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"example.com/subproduct/tenancy"
)

// Engine works the jobs of a product, beside those of other replicas.
type Engine struct {
	db        *tenancy.DB
	handlers  map[string]Declared
	schedules []Declared
	options   Options
	log       *slog.Logger
	river     *river.Client[pgx.Tx] // nil: no jobs are declared
	system    *tenancy.System       // River's connections; the handlers use those of the requests
}

// Options tune an Engine; the zero value is what production wants.
type Options struct {
	Slots    int           // jobs that run at once; 0: 3
	Poll     time.Duration // how often to look for work; 0: 1 s
	Timeout  time.Duration // of one attempt; 0: 5 minutes
	Rescue   time.Duration // when a running job is taken for lost with its process; over Timeout; 0: 15 minutes
	Shutdown time.Duration // how long Run goes on when its context has ended; 0: 15 s
	Logger   *slog.Logger  // nil: slog.Default()
}

func (o Options) withDefaults() Options {
	o.Slots = cmp.Or(o.Slots, 3)
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.Timeout = cmp.Or(o.Timeout, 5*time.Minute)
	o.Rescue = cmp.Or(o.Rescue, 15*time.Minute)
	o.Shutdown = cmp.Or(o.Shutdown, 15*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}

// Conns is how many connections an engine has of its own: the end of a job is
// written down when handlers and requests use up all others.
const Conns = 2

// New returns the engine of the jobs that a product declares; where that is none,
// its Run returns at once and nothing is connected. It returns an error that
// names every declaration that cannot be.
func New(db *tenancy.DB, declared []Declared, o Options) (*Engine, error) {
	o = o.withDefaults()
	e := &Engine{db: db, options: o, log: o.Logger, handlers: map[string]Declared{}}
	if err := e.declare(declared); err != nil || len(declared) == 0 {
		return e, err
	}
	var err error
	if e.system, err = db.NewSystem(Conns); err != nil {
		return nil, err
	}
	if e.river, err = e.newRiver(false); err != nil {
		e.system.Close()
		return nil, err
	}
	return e, nil
}

// newRiver configures River; alone has it neither lead nor schedule.
func (e *Engine) newRiver(alone bool) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	for kind := range e.handlers {
		river.AddWorkerArgs(workers, stored{kind}, &worker{engine: e})
	}
	return river.NewClient(e.system.River(), &river.Config{
		Schema:                 "public", // else a tenant's search_path would lead it
		PollOnly:               true,     // LISTEN hears nothing behind a pooler
		FetchOnlyKnownKinds:    true,     // a newer replica's jobs wait for it
		FetchPollInterval:      e.options.Poll,
		FetchCooldown:          min(river.FetchCooldownDefault, e.options.Poll),
		JobTimeout:             e.options.Timeout,
		JobStuckThreshold:      min(river.JobStuckThresholdDefault, e.options.Timeout),
		JobStuckHandler:        e.stuck,
		RescueStuckJobsAfter:   e.options.Rescue,
		SoftStopTimeout:        e.options.Shutdown * 9 / 10, // the rest is for handlers whose context has ended
		LeaderElectionDisabled: alone,
		Logger:                 slog.New(warnings{e.log.Handler()}),
		Queues:                 map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: e.options.Slots}},
		Workers:                workers,
	})
}

// Run works jobs until ctx ends. From then on it claims none, waits for those
// that run, ends their context when Options.Shutdown is nearly over, and returns
// when that is over at the latest. A job that did not finish is run again, by
// another replica or the next start, and the attempt does not count. A handler
// that ignores its context is left behind, and its job run again after
// Options.Rescue.
func (e *Engine) Run(ctx context.Context) {
	if e.river == nil {
		return
	}
	defer e.system.Close()
	if !e.start(ctx) {
		return
	}
	var ticking sync.WaitGroup
	ticking.Go(func() { e.keepSchedules(ctx) })
	<-ctx.Done()
	select {
	case <-e.river.Stopped():
	case <-time.After(e.options.Shutdown):
		e.log.Error("a job's handler ignores the end of its context: it is left behind, and its job run again later")
	}
	ticking.Wait()
}

// start waits for a database that does not answer, and reports whether it began
// before ctx ended.
func (e *Engine) start(ctx context.Context) bool {
	for {
		err := e.river.Start(ctx)
		if err == nil || ctx.Err() != nil {
			return err == nil && ctx.Err() == nil
		}
		e.log.ErrorContext(ctx, "jobs: cannot begin", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(e.options.Poll):
		}
	}
}

// warnings lets River say what somebody should know: what it says below that is
// said here, in our words.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// Handle calls an error what every other line calls it.
func (w warnings) Handle(ctx context.Context, r slog.Record) error {
	said := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" {
			a.Key = "error"
		}
		said.AddAttrs(a)
		return true
	})
	return w.Handler.Handle(ctx, said)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
