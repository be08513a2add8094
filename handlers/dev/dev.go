//go:build !production

package dev

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/localpg"
)

// stack is everything that Run has started.
type stack struct {
	product  server.Product
	options  options
	env      config.Lookup
	out      io.Writer
	log      *slog.Logger
	postgres *localpg.Server
	app      net.Listener
	console  net.Listener
	platform *simulator.Platform
	config   config.Config
}

// Run starts PostgreSQL, the simulator and the app, seeds two demo tenants the
// first time, prints the addresses, and stops everything when ctx ends; with
// --platform-only it is the simulator alone. It returns an error that wraps
// flags.ErrUsage for wrong arguments.
func Run(ctx context.Context, p server.Product, args []string, env config.Lookup, out io.Writer) error {
	f, err := parseFlags(args, out)
	if err != nil {
		return err
	}
	ctx, stop := endWithGoRun(ctx)
	defer stop()
	d := &stack{product: p, options: f, env: env, out: out}
	d.log = f.logger(env, slog.LevelWarn) // the addresses are what matters, and what the product says
	slog.SetDefault(slog.New(server.InContext(f.logger(env, slog.LevelInfo).Handler())))
	if f.platformOnly {
		return d.runPlatformOnly(ctx)
	}
	if err := d.listen(); err != nil {
		return err
	}
	defer d.app.Close()
	defer d.console.Close()
	if err := d.startPostgres(ctx); err != nil {
		return err
	}
	defer d.stopPostgres()
	if err := d.configure(); err != nil {
		return err
	}
	return d.serve(ctx)
}

// listen takes both addresses first: a taken one is an error before anything
// was started.
func (d *stack) listen() (err error) {
	if d.app, err = net.Listen("tcp", d.options.appAddr); err != nil {
		return fmt.Errorf("%w (choose another with --app-addr)", err)
	}
	if err = d.listenPlatform(); err != nil {
		d.app.Close()
	}
	return err
}

func (d *stack) listenPlatform() (err error) {
	if d.console, err = net.Listen("tcp", d.options.platformAddr); err != nil {
		return fmt.Errorf("%w (choose another with --platform-addr)", err)
	}
	return nil
}

func (d *stack) startPostgres(ctx context.Context) (err error) {
	fmt.Fprintln(d.out, "Starting a private PostgreSQL …")
	d.postgres, err = d.options.openData(ctx, d.log)
	if err != nil {
		return err
	}
	if err = d.makeDatabase(ctx); err != nil {
		d.stopPostgres()
	}
	return err
}

func (d *stack) stopPostgres() {
	if err := d.postgres.Stop(); err != nil {
		d.log.Error("PostgreSQL did not stop cleanly", "error", err)
	}
}

// serve runs the simulator and the app side by side until ctx ends or one of
// them fails; then both stop, the app first.
func (d *stack) serve(ctx context.Context) error {
	platformCtx, stopPlatform := context.WithCancel(context.WithoutCancel(ctx))
	running, appCtx := errgroup.WithContext(ctx)
	running.Go(func() error { return d.servePlatform(platformCtx) })
	running.Go(func() error {
		if err := d.welcome(appCtx); appCtx.Err() == nil {
			return err
		}
		return nil
	})
	running.Go(func() error {
		defer stopPlatform()
		return server.Serve(appCtx, d.product, d.config, d.app, d.log, server.Options{Source: sourceTree(), ShowCauses: true})
	})
	return running.Wait()
}

// readyTimeout bounds the wait for the app to be ready; a first start has
// nothing slow to do but one migration.
const readyTimeout = time.Minute
