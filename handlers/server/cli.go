package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/health"
	"example.com/subproduct/handlers/platform/send"
	"example.com/subproduct/tenancy/commands"
)

// CLI is the template's commands for one product. Each takes the arguments
// behind its name and returns flag.ErrHelp when it has printed its help, an
// error that wraps flags.ErrUsage when the call or the configuration is wrong, and
// else what went wrong.
type CLI struct {
	Product Product
	Env     config.Lookup
	Stdout  io.Writer
	Version string
}

// Serve runs the server on the configuration of the environment.
func (c CLI) Serve(ctx context.Context, args []string) error {
	if err := c.noArgs("serve", args); err != nil {
		return err
	}
	settings, err := configured(c, func(env config.Lookup) (config.Config, error) { return config.Load(env, c.Product.Settings) })
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", settings.ListenAddr)
	if err != nil {
		return err
	}
	log, buffer := bufferedLog(settings, os.Stderr)
	defer buffer.Close()
	slog.SetDefault(slog.New(InContext(log.Handler())))
	log.InfoContext(ctx, "listening", "address", l.Addr().String(), "version", c.Version)
	limitMemory(log, memlimit.FromCgroup)
	err = Serve(ctx, c.Product, settings, l, log, Options{Version: c.Version, LogDropped: buffer.Dropped})
	log.InfoContext(ctx, "stopped")
	return err
}

// Migrate is the command `migrate`: see commands.Migrate.
func (c CLI) Migrate(ctx context.Context, args []string) error {
	return c.onDatabase(ctx, commands.MigrateJobs(args), args, commands.CheckMigrate, commands.Migrate)
}

// Tenants is the command `tenants`: see commands.Tenants. To provision runs the
// product's OnProvision.
func (c CLI) Tenants(ctx context.Context, args []string) error {
	return c.onDatabase(ctx, commandConns, args, commands.CheckTenants, commands.Tenants, "provision")
}

// Events is the command `events`: see commands.Events.
func (c CLI) Events(ctx context.Context, args []string) error {
	handlers, err := c.handlers()
	if err != nil && !asksForHelp(args) {
		return err
	}
	return c.onDatabase(ctx, commandConns, args, commands.CheckEvents, commands.Events(handlers))
}

// Jobs is the command `jobs`: see commands.Jobs. To run a schedule's jobs asks
// the product for their arguments.
func (c CLI) Jobs(ctx context.Context, args []string) error {
	return c.onDatabase(ctx, commandConns, args, commands.CheckJobs, commands.Jobs(c.Product.Jobs), "run")
}

// SchemaScript is the command `schema-script`: see commands.SchemaScript. It
// needs no database.
func (c CLI) SchemaScript(_ context.Context, args []string) error {
	return commands.SchemaScript(c.Product.TenantSchema, args, c.Stdout)
}

// SendEvent is the command `send-event`: see send.Run. It needs WEBHOOK_SECRET
// and nothing else.
func (c CLI) SendEvent(ctx context.Context, args []string) error {
	secret, err := configured(c, func(env config.Lookup) (config.Secret, error) {
		r := config.NewReader(env)
		secret := r.RequiredSecret("WEBHOOK_SECRET", "")
		return secret, r.Err()
	})
	if err != nil && !asksForHelp(args) {
		return err
	}
	return send.Run(ctx, secret.Reveal(), args, c.Stdout)
}

// Healthcheck asks the local server's health URL.
func (c CLI) Healthcheck(ctx context.Context, args []string) error {
	if err := c.noArgs("healthcheck", args); err != nil {
		return err
	}
	addr, err := configured(c, config.ListenAddr)
	if err != nil {
		return err
	}
	return health.Check(ctx, addr)
}

// PrintVersion prints the version.
func (c CLI) PrintVersion(_ context.Context, args []string) error {
	if err := c.noArgs("version", args); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.Stdout, c.Version)
	return err
}

// configured reads settings from the environment with .env beside it. Its error
// names what is wrong with either, at once.
func configured[T any](c CLI, read func(config.Lookup) (T, error)) (T, error) {
	env, unread := config.WithDotEnv(c.Env, ".env")
	settings, err := read(env)
	if err := errors.Join(unread, err); err != nil {
		return settings, unusable(err)
	}
	return settings, nil
}
