package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/health"
	"example.com/subproduct/handlers/platform/send"
	"example.com/subproduct/tenancy/commands"
)

// CLI is the template's commands for one product. Each takes the arguments
// behind its name and returns flag.ErrHelp when it has printed its help, an
// error that wraps ErrUsage when the call or the configuration is wrong, and
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
	env, err := c.environment()
	if err != nil {
		return err
	}
	settings, err := config.Load(env, c.Product.Settings)
	if err != nil {
		return unusable(err)
	}
	l, err := net.Listen("tcp", settings.ListenAddr)
	if err != nil {
		return err
	}
	log, buffer := bufferedLog(settings, os.Stderr)
	defer buffer.Close()
	log.InfoContext(ctx, "listening", "address", l.Addr().String(), "version", c.Version)
	err = Serve(ctx, c.Product, settings, l, log, Options{Version: c.Version, LogDropped: buffer.Dropped})
	log.InfoContext(ctx, "stopped")
	return err
}

// Migrate is the command `migrate`: see commands.Migrate.
func (c CLI) Migrate(ctx context.Context, args []string) error {
	return c.onDatabase(ctx, commands.MigrateJobs(args), args, commands.Migrate)
}

// Tenants is the command `tenants`: see commands.Tenants.
func (c CLI) Tenants(ctx context.Context, args []string) error {
	return c.onDatabase(ctx, commandConns, args, commands.Tenants)
}

// Events is the command `events`: see commands.Events.
func (c CLI) Events(ctx context.Context, args []string) error {
	handlers, err := c.handlers()
	if err != nil && !asksForHelp(args) {
		return err
	}
	return c.onDatabase(ctx, commandConns, args, commands.Events(handlers))
}

// Jobs is the command `jobs`: see commands.Jobs.
func (c CLI) Jobs(ctx context.Context, args []string) error {
	return c.onDatabase(ctx, commandConns, args, commands.Jobs(c.Product.Jobs))
}

// SchemaScript is the command `schema-script`: see commands.SchemaScript. It
// needs no database.
func (c CLI) SchemaScript(_ context.Context, args []string) error {
	return asUsage(commands.SchemaScript(c.Product.TenantSchema, args, c.Stdout))
}

// SendEvent is the command `send-event`: see send.Run. It needs WEBHOOK_SECRET
// and nothing else.
func (c CLI) SendEvent(ctx context.Context, args []string) error {
	env, err := c.environment()
	if err != nil {
		return err
	}
	r := config.NewReader(env)
	secret := r.RequiredSecret("WEBHOOK_SECRET", "")
	if err := r.Err(); err != nil && !asksForHelp(args) {
		return unusable(err)
	}
	return asUsage(send.Run(ctx, secret.Reveal(), args, c.Stdout))
}

// Healthcheck asks the local server's health URL.
func (c CLI) Healthcheck(ctx context.Context, args []string) error {
	if err := c.noArgs("healthcheck", args); err != nil {
		return err
	}
	env, err := c.environment()
	if err != nil {
		return err
	}
	addr, err := config.ListenAddr(env)
	if err != nil {
		return unusable(err)
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

// environment is the environment with .env beside it.
func (c CLI) environment() (config.Lookup, error) {
	env, err := config.WithDotEnv(c.Env, ".env")
	if err != nil {
		return nil, unusable(err)
	}
	return env, nil
}
