package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/server/doctor"
	"example.com/subproduct/tenancy"
)

// Doctor is the command `doctor`: it checks the settings and everything that
// they point to, prints a line for each, and returns doctor.ErrFailed when one
// is a failure. A setting that is wrong is a failure too, no wrong call.
func (c CLI) Doctor(ctx context.Context, args []string) error {
	var asJSON bool
	rest, err := c.parse(Command{Name: "doctor", Flags: func(set *flag.FlagSet) {
		set.BoolVar(&asJSON, "json", false, "print one JSON document")
	}}, args)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%w: doctor takes flags only, got %q", ErrUsage, rest)
	}
	if err != nil {
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
