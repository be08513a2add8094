package server

import (
	"context"
	"embed"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/tenancy"
)

// database is how the product's database is opened, but for the size of the
// pool.
func (p Product) database(c config.Config, log *slog.Logger) tenancy.Options {
	return tenancy.Options{
		URL: named(c.DatabaseURL.Reveal(), p.Slug), TenantRoles: c.TenantRoles, Logger: log,
		Tenant: orEmpty(p.TenantSchema), Shared: p.SharedSchema, OnProvision: p.OnProvision,
	}
}

// SchemaScript is the product's tenant schema as one SQL script. It needs no
// database.
func SchemaScript(p Product) (string, error) {
	db, err := p.schemaOnly()
	if err != nil {
		return "", err
	}
	defer db.Close()
	return db.SchemaScript()
}

// schemaOnly knows the product's migrations and never connects.
func (p Product) schemaOnly() (*tenancy.DB, error) {
	return tenancy.Open(context.Background(), tenancy.Options{URL: "postgres://", Tenant: orEmpty(p.TenantSchema), Shared: p.SharedSchema})
}

// orEmpty is an empty folder where a product has none.
func orEmpty(fsys fs.FS) fs.FS {
	if fsys == nil {
		return embed.FS{}
	}
	return fsys
}

// named adds the application_name to a database URL that has none.
func named(databaseURL, name string) string {
	u, err := url.Parse(databaseURL)
	if err != nil || name == "" {
		return databaseURL // what is wrong with it is said when it is opened
	}
	query := u.Query()
	if query.Get("application_name") != "" {
		return databaseURL
	}
	query.Set("application_name", name)
	u.RawQuery = query.Encode()
	return u.String()
}

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
	return c.withDatabase(ctx, conns, func(db *tenancy.DB) error { return run(ctx, db, args, c.Stdout) })
}
