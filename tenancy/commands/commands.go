// Package commands are the operator's commands: migrate, tenants, events, jobs
// and schema-script. They read arguments and print; what they do is in tenancy.
package commands

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// Errors of every command.
var (
	// ErrUsage is wrapped by the error of a wrong call.
	ErrUsage = errors.New("wrong call")
	// ErrFailed says that the command did its work and something of it failed;
	// what failed has been printed.
	ErrFailed = errors.New("failed")
)

// flagSet is a command's flags. The help that was asked for goes to out; what is
// wrong is in the error, and said nowhere else.
type flagSet struct {
	*flag.FlagSet
	said strings.Builder
	out  io.Writer
}

// newFlags returns flags whose help begins with a line on how to call.
func newFlags(name, call string, out io.Writer) *flagSet {
	set := &flagSet{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), out: out}
	set.SetOutput(&set.said)
	set.Usage = func() {
		fmt.Fprintf(&set.said, "usage: %s\n", call)
		set.PrintDefaults()
	}
	return set
}

// parse reads flags wherever they stand, before or after the words, and returns
// the words.
func (s *flagSet) parse(args []string) (words []string, err error) {
	for {
		err := s.Parse(args)
		switch {
		case errors.Is(err, flag.ErrHelp):
			_, _ = io.WriteString(s.out, s.said.String())
			return nil, err
		case err != nil:
			return nil, usage("%s", strings.TrimSpace(s.said.String()))
		case s.NArg() == 0:
			return words, nil
		}
		words = append(words, s.Arg(0))
		args = s.Args()[1:]
	}
}

func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUsage, fmt.Sprintf(format, args...))
}

// noJSON refuses --json for what answers with a sentence.
func noJSON(command, word string) error {
	return usage("%s %s prints no JSON: --json goes with list and show", command, word)
}

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// errorOr goes on where there is no error yet.
func errorOr(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}
