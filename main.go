// Subproduct is a sub-product of a subscription platform: one binary, and this
// file is its command line and its wiring.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"example.com/subproduct/handlers"
	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev"
	"example.com/subproduct/handlers/platform/send"
	"example.com/subproduct/schema"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.LookupEnv, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "subproduct: "+err.Error())
	}
	os.Exit(exitCode(err))
}

// usageError is a wrong call or a wrong configuration: exit code 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usageError{}):
		return 2
	}
	return 1
}

// command is one word of the command line.
type command struct {
	name, summary string
	run           func(ctx context.Context, args []string, env config.Lookup, stdout io.Writer) error
}

// run finds the command and runs it; without one it serves.
func run(ctx context.Context, args []string, env config.Lookup, stdout io.Writer) error {
	name := "serve"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	for _, c := range table() {
		if c.name == name {
			return c.run(ctx, args, env, stdout)
		}
	}
	usage(stdout)
	if name == "help" || name == "-h" || name == "--help" {
		return nil
	}
	return usageError{fmt.Errorf("no command %q", name)}
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: subproduct [COMMAND]\n\ncommands:")
	for _, c := range table() {
		fmt.Fprintf(w, "  %-14s %s\n", c.name, c.summary)
	}
}

func table() []command {
	return []command{
		{"dev", "a private PostgreSQL, a platform simulator and the app, with demo tenants", development(dev.Run)},
		{"serve", "the server, on the configuration of the environment (the default)", serve},
		{"migrate", "the shared schema, then every tenant's; --status, --drift", migrate},
		{"tenants", "list, show, provision, cancel, restore, export, purge", withDatabase(commands.Tenants)},
		{"events", "list, show, retry: the webhook inbox", withDatabase(commands.Events(nil))},
		{"send-event", "signs and posts one event, as the platform would", sendEvent},
		{"conformance", "holds a running sub-product against the contract, rule by rule", development(dev.Conformance)},
		{"schema-script", "prints the tenant schema as one script; --check FILE", schemaScript},
		{"healthcheck", "asks the local server's health URL; for a container", healthcheck},
		{"version", "prints the version", version},
	}
}

// serve runs the server on the environment's configuration.
func serve(ctx context.Context, args []string, env config.Lookup, _ io.Writer) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("serve takes no arguments, got %q", args)}
	}
	c, err := loadConfig(env)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.ListenAddr)
	if err != nil {
		return err
	}
	log := c.Logger(os.Stderr)
	log.InfoContext(ctx, "listening", "address", l.Addr().String(), "version", buildVersion())
	return handlers.Serve(ctx, c, l, log, handlers.ServeOptions{})
}

// development is a command that a production build is without.
func development(run func(context.Context, []string, config.Lookup, io.Writer) error) func(context.Context, []string, config.Lookup, io.Writer) error {
	return func(ctx context.Context, args []string, env config.Lookup, stdout io.Writer) error {
		err := run(ctx, args, env, stdout)
		if errors.Is(err, dev.ErrUsage) {
			return usageError{err}
		}
		return err
	}
}

// loadConfig reads the environment, and .env beside it.
func loadConfig(env config.Lookup) (config.Config, error) {
	env, err := config.WithDotEnv(env, ".env")
	if err != nil {
		return config.Config{}, usageError{err}
	}
	c, err := config.Load(env)
	if err != nil {
		return c, usageError{fmt.Errorf("the configuration is not usable:\n%w\n(.env.example describes every setting)", err)}
	}
	return c, nil
}

// databaseCommand is a command that needs the database and nothing else.
type databaseCommand func(ctx context.Context, db *tenancy.DB, args []string, stdout io.Writer) error

// withDatabase reads the settings of the database and opens it for the command.
func withDatabase(run databaseCommand) func(context.Context, []string, config.Lookup, io.Writer) error {
	return func(ctx context.Context, args []string, env config.Lookup, stdout io.Writer) error {
		return onDatabase(ctx, 4, args, env, stdout, run)
	}
}

// migrate needs a connection for each job.
func migrate(ctx context.Context, args []string, env config.Lookup, stdout io.Writer) error {
	return onDatabase(ctx, commands.MigrateJobs(args), args, env, stdout, commands.Migrate)
}

func onDatabase(ctx context.Context, conns int, args []string, env config.Lookup, stdout io.Writer, run databaseCommand) error {
	env, err := config.WithDotEnv(env, ".env")
	if err != nil {
		return usageError{err}
	}
	c, err := config.LoadDatabase(env)
	if err != nil {
		return usageError{err}
	}
	db, err := tenancy.Open(ctx, tenancy.Options{URL: c.DatabaseURL.Reveal(), MaxConns: conns, Tenant: schema.Tenant(), Shared: schema.Shared(), Logger: c.Logger(os.Stderr)})
	if err != nil {
		return err
	}
	defer db.Close()
	return asUsage(run(ctx, db, args, stdout))
}

// schemaScript needs no database: the script is in the program.
func schemaScript(_ context.Context, args []string, _ config.Lookup, stdout io.Writer) error {
	return asUsage(commands.SchemaScript(schema.Tenant(), args, stdout))
}

// sendEvent needs the secret and nothing else.
func sendEvent(ctx context.Context, args []string, env config.Lookup, stdout io.Writer) error {
	env, err := config.WithDotEnv(env, ".env")
	if err != nil {
		return usageError{err}
	}
	secret, err := config.LoadWebhookSecret(env)
	if err != nil {
		return usageError{err}
	}
	return asUsage(send.Run(ctx, secret.Reveal(), args, stdout))
}

func asUsage(err error) error {
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case errors.Is(err, commands.ErrUsage), errors.Is(err, send.ErrUsage):
		return usageError{err}
	}
	return err
}

func healthcheck(ctx context.Context, _ []string, env config.Lookup, _ io.Writer) error {
	env, err := config.WithDotEnv(env, ".env")
	if err != nil {
		return usageError{err}
	}
	addr, err := config.ListenAddr(env)
	if err != nil {
		return usageError{err}
	}
	return config.CheckHealth(ctx, addr)
}

func version(_ context.Context, _ []string, _ config.Lookup, stdout io.Writer) error {
	_, err := fmt.Fprintln(stdout, buildVersion())
	return err
}

// release is set by the build: -ldflags "-X main.release=v1.2.3".
var release string

// buildVersion is the release, or what Go knows of the commit.
func buildVersion() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return info.Main.Version
}
