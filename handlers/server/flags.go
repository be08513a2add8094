package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands/flags"
)

// Own makes a command of the product's like one of the template's.
func (c CLI) Own(own Command) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		rest, err := c.parse(own, args)
		if err != nil {
			return err
		}
		ctx = tenancy.WithActor(ctx, operator())
		return c.withDatabase(ctx, commandConns, c.Product.Settings, func(db *tenancy.DB) error {
			return own.Run(ctx, Call{Args: rest, Stdout: c.Stdout, DB: db})
		})
	}
}

// parse reads the flags of a command. Its help begins with what the command does.
func (c CLI) parse(command Command, args []string) (rest []string, err error) {
	set := flag.NewFlagSet(command.Name, flag.ContinueOnError)
	set.Usage = func() {
		fmt.Fprintf(set.Output(), "%s: %s\n", command.Name, command.Summary)
		set.PrintDefaults()
	}
	if command.Flags != nil {
		command.Flags(set)
	}
	return flags.Parse(set, args, c.Stdout)
}

// noArgs refuses arguments of a command that takes none.
func (c CLI) noArgs(name string, args []string) error {
	return flags.ParseOnly(flag.NewFlagSet(name, flag.ContinueOnError), args, c.Stdout)
}

func unusable(err error) error {
	return flags.Usage(fmt.Errorf("the configuration is not usable:\n%w\n(.env.example describes every setting)", err))
}

// named is err, and a wrong call where a slug is none.
func named(err error) error {
	if errors.Is(err, tenancy.ErrBadSlug) {
		return flags.Usage(err)
	}
	return err
}

func asksForHelp(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "-help" || a == "--help" })
}
