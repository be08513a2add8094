package server

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"os/user"
	"slices"
	"strconv"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/tenancy"
)

// database is how the product's database is opened, but for the size of the
// pool.
func (p Product) database(c config.Config, log *slog.Logger) tenancy.Options {
	return tenancy.Options{
		URL: c.DatabaseURL.Reveal(), Name: p.Slug, Logger: log,
		Tenant: p.TenantSchema, Shared: p.SharedSchema, OnProvision: p.OnProvision, Tracer: p.Tracer,
	}
}

// split is how a replica's connections are shared out.
type split struct{ probe, sessions, inbox, jobs, tenants, requests int }

// splitConns shares out total connections, at least config.LeastConns: one is the
// health probe's; the inbox has some of its own, so that an event is answered
// when requests use up theirs; so have sessions, which every request asks for and
// no migration may keep waiting; tenants are made and migrated on two, or on one
// where there are few. The rest are the requests'.
func splitConns(total int) split {
	s := split{probe: 1, inbox: max(2, total*3/16), sessions: max(1, total/8), tenants: 1}
	if total >= 10 {
		s.tenants = 2
	}
	s.requests = total - s.probe - s.sessions - s.inbox - s.tenants
	return s
}

// commandConns is how many connections a command takes at most.
const commandConns = 4

// withDatabase reads the settings of the database and, unless it is nil, product,
// opens the database and runs a command on it.
func (c CLI) withDatabase(ctx context.Context, conns int, product func(*config.Reader), run func(*tenancy.DB) error) error {
	settings, err := configured(c, func(env config.Lookup) (config.Config, error) { return config.LoadDatabase(env, product) })
	if err != nil {
		return err
	}
	options := c.Product.database(settings, settings.Logger(os.Stderr))
	options.MaxConns = conns
	db, err := tenancy.Open(ctx, options)
	if err != nil {
		return err
	}
	defer db.Close()
	return named(run(db))
}

// onDatabase runs one of the template's commands on the database. It needs no
// configuration to print its help nor to refuse a wrong call, as check does, and
// the product's settings only where one of the arguments is a word with which it
// runs code of the product's.
func (c CLI) onDatabase(ctx context.Context, conns int, args []string, check func([]string) error, run func(context.Context, *tenancy.DB, []string, io.Writer) error, ownCode ...string) error {
	if asksForHelp(args) {
		return run(ctx, nil, args, c.Stdout) // which parses first, and ends there
	}
	if err := check(args); err != nil {
		return err
	}
	var product func(*config.Reader)
	if slices.ContainsFunc(args, func(a string) bool { return slices.Contains(ownCode, a) }) {
		product = c.Product.Settings
	}
	ctx = tenancy.WithActor(ctx, operator())
	return c.withDatabase(ctx, conns, product, func(db *tenancy.DB) error { return run(ctx, db, args, c.Stdout) })
}

// operator is who runs a command, as the audit log names them: user@host. A
// container may know its user by number alone.
func operator() string {
	name := "uid-" + strconv.Itoa(os.Getuid())
	if known, err := user.Current(); err == nil {
		name = cmp.Or(known.Username, name)
	}
	host, _ := os.Hostname()
	return name + "@" + cmp.Or(host, "unknown")
}
