package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/subproduct/handlers/platform/send"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands"
)

// ErrUsage is wrapped by the error of a wrong call or a wrong configuration.
var ErrUsage = errors.New("wrong call")

// Own makes a command of the product's like one of the template's.
func (c CLI) Own(own Command) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		rest, err := c.parse(own, args)
		if err != nil {
			return err
		}
		ctx = tenancy.WithActor(ctx, operator())
		return c.withDatabase(ctx, commandConns, func(db *tenancy.DB) error {
			return own.Run(ctx, Call{Args: rest, Stdout: c.Stdout, DB: db})
		})
	}
}

// parse reads the flags of a command.
func (c CLI) parse(command Command, args []string) (rest []string, err error) {
	set := flag.NewFlagSet(command.Name, flag.ContinueOnError)
	if command.Flags != nil {
		command.Flags(set)
	}
	return ParseFlags(set, args, c.Stdout)
}

// ParseFlags reads a command's flags, and returns what is left. It returns
// flag.ErrHelp when it has printed the help to out, and an error that wraps
// ErrUsage for arguments that it refuses.
func ParseFlags(set *flag.FlagSet, args []string, out io.Writer) (rest []string, err error) {
	var said strings.Builder
	set.SetOutput(&said)
	err = set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = io.WriteString(out, said.String())
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %s", ErrUsage, strings.TrimSpace(said.String()))
	}
	return set.Args(), nil
}

// noArgs refuses arguments of a command that takes none.
func (c CLI) noArgs(name string, args []string) error {
	rest, err := c.parse(Command{Name: name}, args)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%w: %s takes no arguments, got %q", ErrUsage, name, rest)
	}
	return err
}

func unusable(err error) error {
	return Usage(fmt.Errorf("the configuration is not usable:\n%w\n(.env.example describes every setting)", err))
}

// Usage is an error that is ErrUsage as well, in its own words.
func Usage(err error) error { return usage{err} }

type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

func (usage) Is(target error) bool { return target == ErrUsage }

func asUsage(err error) error {
	switch {
	case errors.Is(err, flag.ErrHelp):
		return flag.ErrHelp
	case errors.Is(err, commands.ErrUsage), errors.Is(err, send.ErrUsage), errors.Is(err, tenancy.ErrBadSlug):
		return Usage(err)
	}
	return err
}

func asksForHelp(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "-help" || a == "--help" })
}
