// One binary is the whole program; this file is its command line.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"

	"example.com/subproduct/handlers"
	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/commands"
	"example.com/subproduct/tenancy/commands/flags"
)

func main() { os.Exit(execute(handlers.Product())) }

// execute runs the product's program and returns its exit code.
func execute(p server.Product) int {
	ctx, stop := server.Signals(context.Background())
	defer stop()
	out := &output{Writer: os.Stdout}
	err := run(ctx, p, os.Args[1:], os.LookupEnv, out)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		err = out.failed() // what was asked for may have been lost
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, program()+": "+commands.Printable(err.Error()))
	if errors.Is(err, flags.ErrUsage) {
		return 2
	}
	return 1
}

// program is what this program is called by.
func program() string { return filepath.Base(os.Args[0]) }

// output keeps the first error of writing to it: few who print ask for one.
type output struct {
	io.Writer
	mu  sync.Mutex
	err error
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.Writer.Write(p)
	o.err = cmp.Or(o.err, err)
	return n, err
}

func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return fmt.Errorf("not all of the output could be written: %w", o.err)
}

// command is one word of the command line.
type command struct {
	name, summary string
	run           func(ctx context.Context, args []string) error
}

// table is every command: the template's, then the product's own.
func table(c server.CLI) []command {
	all := []command{
		{"dev", "a private PostgreSQL, a platform simulator and the app, with demo tenants", development(c, dev.Run)},
		{"serve", "the server, on the configuration of the environment (the default)", c.Serve},
		{"migrate", "the shared schema, then every tenant's; --status, --drift", c.Migrate},
		{"tenants", "list, show, provision, cancel, restore, export, import, purge", c.Tenants},
		{"events", "list, show, retry, ignore: the webhook inbox", c.Events},
		{"jobs", "list, show, retry, cancel, run: the background jobs", c.Jobs},
		{"send-event", "signs and posts one event, as the platform would", c.SendEvent},
		{"add", "makes a business resource: add invoices number:string amount:numeric due:date paid:bool", development(c, dev.Add)},
		{"conformance", "holds a running sub-product against the contract, rule by rule", development(c, dev.Conformance)},
		{"schema-script", "prints the tenant schema as one script; --check FILE", c.SchemaScript},
		{"doctor", "checks settings, database, platform and public address; --json", c.Doctor},
		{"healthcheck", "asks the local server's health URL; for a container", c.Healthcheck},
		{"init", "makes a fresh clone your own product; --name, --slug", development(c, dev.Init)},
		{"upgrade", "takes a later version of the template over; DIR or URL, and a REF", development(c, dev.Upgrade)},
		{"version", "prints the version", c.PrintVersion},
	}
	for _, own := range c.Product.Commands {
		all = append(all, command{own.Name, own.Summary, c.Own(own)})
	}
	return all
}

// development is a command that a production build is without.
func development(c server.CLI, run func(context.Context, server.Product, []string, config.Lookup, io.Writer) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error { return run(ctx, c.Product, args, c.Env, c.Stdout) }
}

// run finds the command and runs it; without one it serves.
func run(ctx context.Context, p server.Product, args []string, env config.Lookup, stdout io.Writer) error {
	all := table(server.CLI{Product: p, Env: env, Stdout: stdout, Version: version()})
	name := "serve"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	found := slices.DeleteFunc(slices.Clone(all), func(c command) bool { return c.name != name })
	switch len(found) {
	case 1:
		return found[0].run(ctx, args)
	case 2:
		return fmt.Errorf("%w: two commands are called %q: rename the product's", flags.ErrUsage, name)
	}
	usage(stdout, all)
	if name == "help" || name == "-h" || name == "--help" {
		return nil
	}
	return fmt.Errorf("%w: no command %q", flags.ErrUsage, name)
}

func usage(w io.Writer, all []command) {
	fmt.Fprintf(w, "usage: %s [COMMAND]\n\ncommands:\n", program())
	for _, c := range all {
		fmt.Fprintf(w, "  %-14s %s\n", c.name, c.summary)
	}
}

// release is set by the build: -ldflags "-X main.release=v1.2.3".
var release string

// version is the release, or what Go knows of the commit.
func version() string {
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
