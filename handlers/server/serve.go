package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
)

// Serve runs the product's server on l until ctx ends, then drains. From then on
// /readyz says no and nothing new is taken from the inbox. Where a context of
// Signals has ended with SIGTERM or SIGHUP, requests are still served for
// DRAIN_DELAY. Then there are no new requests, the running ones finish, then the
// events in work, all within one SHUTDOWN_TIMEOUT, and the database is closed
// last. Events that do not finish are rolled back and taken up again by the next
// start.
//
// It answers the probes at once, and everything else once the shared schema is
// there. It returns nil after a clean stop, and an error when the configuration,
// a page or a migration file cannot be used or the database refuses.
func Serve(ctx context.Context, p Product, c config.Config, l net.Listener, log *slog.Logger, o Options) error {
	defer l.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	m, err := openMetrics(ctx, p, c, o, log)
	if err != nil {
		return err
	}
	defer m.Close()
	o.metrics = m
	database := p.database(c, log)
	conns, err := p.split(c.DatabaseMaxConns, o)
	if err != nil {
		return err
	}
	database.MaxConns, database.Sessions, database.Requests = conns.tenants, conns.sessions, conns.requests
	database.MigrateOnUse = c.MigrateOnStart
	database.LogSlower = slowStatement
	if o.Database != nil {
		o.Database(&database)
	}
	db, err := tenancy.Open(ctx, database)
	if err != nil {
		return err
	}
	defer db.Close()
	a, err := wire(p, c, db, o, log)
	if err == nil {
		err = a.newJobs(conns)
	}
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "database connections", "requests", db.Lanes(), "sessions", conns.sessions,
		"inbox", conns.inbox, "jobs", conns.jobs, "tenants", conns.tenants, "probe", conns.probe)
	for _, warning := range c.Warnings() {
		log.WarnContext(ctx, warning)
	}
	var background sync.WaitGroup
	defer background.Wait()
	defer cancel(nil)
	serving, stopServing := outlast(ctx, func() time.Duration { return a.drain(ctx) })
	defer stopServing()
	background.Go(func() { a.health.Run(serving) })
	background.Go(func() { a.sweep(ctx) })
	background.Go(func() {
		if err := a.work(ctx); err != nil {
			cancel(err)
		}
	})
	grace, end := outlast(serving, func() time.Duration { return c.ShutdownTimeout })
	defer end()
	err = web.Serve(serving, grace, l, a.health.Farewell(a.echo), log)
	cancel(nil) // also where the listener has failed
	a.inbox.Close(grace)
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return errors.Join(cause, err)
	}
	return err
}

// work is what goes on beside the requests: first the shared schema, then the
// tenants that are behind, and the inbox until ctx ends.
func (a *app) work(ctx context.Context) error {
	if err := a.prepare(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil
	}
	a.health.Ready()
	a.log.InfoContext(ctx, "ready", "public_url", a.config.PublicURL.String())
	var background sync.WaitGroup
	if a.config.MigrateOnStart {
		background.Go(func() { a.db.MigrateInBackground(ctx) })
	}
	background.Go(func() { a.background(ctx) })
	background.Go(func() { a.jobs.Run(ctx) })
	a.inbox.Run(ctx)
	background.Wait()
	return nil
}

// sweepEvery is how often sessions past their life and events past their
// retention are deleted.
const sweepEvery = 10 * time.Minute

func (a *app) sweep(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := errors.Join(a.db.SweepSessions(ctx), a.inbox.Sweep(ctx), a.db.SweepAudit(ctx, a.config.EventRetention)); err != nil && ctx.Err() == nil {
				a.log.ErrorContext(ctx, "what is over was not deleted", "error", err)
			}
		}
	}
}
