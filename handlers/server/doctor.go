package server

import (
	"context"
	"errors"
	"flag"
	"log/slog"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/server/doctor"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands/flags"
)

// Doctor is the command `doctor`: it checks the settings and everything that
// they point to, prints a line for each, and returns doctor.ErrFailed when one
// is a failure. A setting that is wrong is a failure too, no wrong call.
func (c CLI) Doctor(ctx context.Context, args []string) error {
	var asJSON bool
	set := flag.NewFlagSet("doctor", flag.ContinueOnError)
	set.BoolVar(&asJSON, "json", false, "print one JSON document")
	if err := flags.ParseOnly(set, args, c.Stdout); err != nil {
		return err
	}
	lines, err := c.examine(ctx)
	if err != nil {
		return err
	}
	return doctor.Print(c.Stdout, lines, asJSON)
}

func (c CLI) examine(ctx context.Context) ([]doctor.Line, error) {
	env, unread := config.WithDotEnv(c.Env, ".env")
	settings, wrong := config.Load(env, c.Product.Settings)
	d := doctor.Doctor{Config: settings, Problems: errors.Join(unread, wrong)}
	database := c.Product.database(settings, slog.New(slog.DiscardHandler)) // what it would log is in the lines
	database.MaxConns, database.MigrateOnUse = commandConns, settings.MigrateOnStart
	if d.Usable("DATABASE_URL") {
		db, err := tenancy.Open(ctx, database)
		if err != nil {
			return nil, err // a migration file: no setting mends it
		}
		defer db.Close()
		d.DB = db
	}
	return d.Examine(ctx), nil
}
