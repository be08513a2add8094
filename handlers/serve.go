package handlers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/schema"
	"example.com/subproduct/templates"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
)

// ServeOptions are what only development and tests set.
type ServeOptions struct {
	Pages    fs.FS           // nil: the embedded templates
	Live     bool            // parse Pages anew for each request
	Database tenancy.Options // but for its URL, MaxConns, MigrateOnUse, TenantRoles and Logger: these are settings
	// Routes adds routes for signed-in requests.
	Routes func(user *echo.Group, db *tenancy.DB)
	// Events adds handlers of events, or replaces them.
	Events inbox.Handlers
	Inbox  inbox.Options // Retention, Logger and Conns are taken from the configuration
}

// Serve runs the server on l until ctx ends, then stops in order: no new
// requests, the running ones finish, the events in work too, and the database
// is closed last. It answers /healthz and /livez at once, and everything else
// once the shared schema is there. It returns nil after a clean stop.
func Serve(ctx context.Context, c config.Config, l net.Listener, log *slog.Logger, o ServeOptions) error {
	defer l.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if o.Pages == nil {
		o.Pages = templates.FS
	}
	o.Database.URL, o.Database.MaxConns = c.DatabaseURL.Reveal(), requestConns(c.DatabaseMaxConns)
	o.Database.MigrateOnUse, o.Database.Logger = c.MigrateOnStart, log
	if o.Database.Tenant == nil {
		o.Database.Tenant, o.Database.Shared = schema.Tenant(), schema.Shared()
	}
	db, err := tenancy.Open(ctx, o.Database)
	if err != nil {
		return err
	}
	defer db.Close()
	app, handler, err := New(c, db, o, log)
	if err != nil {
		return err
	}
	for _, warning := range c.Warnings() {
		log.WarnContext(ctx, warning)
	}
	var background sync.WaitGroup
	defer background.Wait()
	defer cancel(nil)
	background.Go(func() { app.Health.Run(ctx) })
	background.Go(func() { app.sweepSessions(ctx) })
	background.Go(func() {
		if err := app.work(ctx); err != nil {
			cancel(err)
		}
	})
	err = web.Serve(ctx, l, handler, c.ShutdownTimeout, log)
	app.closeInbox(c.ShutdownTimeout)
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return errors.Join(cause, err)
	}
	return err
}

// closeInbox lets the events in work finish; those that do not in time are
// rolled back and taken up again by the next start.
func (a *App) closeInbox(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	a.Inbox.Close(ctx)
}

// work is what goes on beside the requests: first the shared schema, then the
// tenants that are behind, and the inbox until ctx ends.
func (a *App) work(ctx context.Context) error {
	if err := a.prepare(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil
	}
	a.Health.Ready()
	a.log.InfoContext(ctx, "ready", "public_url", a.config.PublicURL.String())
	var background sync.WaitGroup
	if a.config.MigrateOnStart {
		background.Go(func() { a.DB.MigrateInBackground(ctx) })
	}
	a.Inbox.Run(ctx)
	background.Wait()
	return nil
}

// retryPause is how long to wait for a database that does not answer.
const retryPause = time.Second

// prepare brings the shared schema up to date, or checks it where migrating is
// left to an operator. It waits for a database that is down, and fails on one
// that refuses.
func (a *App) prepare(ctx context.Context) error {
	step := a.DB.MigrateShared
	if !a.config.MigrateOnStart {
		step = a.DB.CheckShared
	}
	for {
		err := step(ctx)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		if !tenancy.IsUnreachable(err) {
			return fmt.Errorf("cannot start: %w", err)
		}
		a.log.ErrorContext(ctx, "waiting for the database", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
}

// A replica's connections are shared out: one for the health probe, three in
// eight for the inbox, and the rest for requests.
func inboxConns(total int) int   { return max(2, total*3/8) }
func requestConns(total int) int { return max(1, total-inboxConns(total)-1) }

// sweepEvery is how often sessions past their life are deleted.
const sweepEvery = 10 * time.Minute

func (a *App) sweepSessions(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := a.DB.SweepSessions(ctx); err != nil && ctx.Err() == nil {
				a.log.ErrorContext(ctx, "sessions not swept", "error", err)
			}
		}
	}
}
