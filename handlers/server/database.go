package server

import (
	"context"
	"io"
	"log/slog"
	"os"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/tenancy"
)

// database is how the product's database is opened, but for the size of the
// pool.
func (p Product) database(c config.Config, log *slog.Logger) tenancy.Options {
	return tenancy.Options{
		URL: c.DatabaseURL.Reveal(), Name: p.Slug, Logger: log,
		Tenant: p.TenantSchema, Shared: p.SharedSchema, OnProvision: p.OnProvision,
	}
}

// A replica's connections, at least config.LeastConns, are shared out: one for
// the health probe, half for the inbox, and the rest, at least three, for
// requests.
func inboxConns(total int) int   { return max(2, min(total/2, total-4)) }
func requestConns(total int) int { return max(1, total-inboxConns(total)-1) }

// commandConns is how many connections a command takes at most.
const commandConns = 4

// withDatabase reads the settings of the database and the product's, opens the
// database and runs a command on it.
func (c CLI) withDatabase(ctx context.Context, conns int, run func(*tenancy.DB) error) error {
	env, err := c.environment()
	if err != nil {
		return err
	}
	settings, err := config.LoadDatabase(env, c.Product.Settings)
	if err != nil {
		return unusable(err)
	}
	options := c.Product.database(settings, settings.Logger(os.Stderr))
	options.MaxConns = conns
	db, err := tenancy.Open(ctx, options)
	if err != nil {
		return err
	}
	defer db.Close()
	return asUsage(run(db))
}

// onDatabase runs one of the template's commands on the database. It needs no
// configuration to print its help.
func (c CLI) onDatabase(ctx context.Context, conns int, args []string, run func(context.Context, *tenancy.DB, []string, io.Writer) error) error {
	if asksForHelp(args) {
		return asUsage(run(ctx, nil, args, c.Stdout)) // which parses first, and ends there
	}
	ctx = tenancy.WithActor(ctx, operator())
	return c.withDatabase(ctx, conns, func(db *tenancy.DB) error { return run(ctx, db, args, c.Stdout) })
}
