// Package commands are the operator's commands: migrate, tenants, events, jobs
// and schema-script. They read arguments and print; what they do is in tenancy.
package commands

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
)

// Errors of every command.
var (
	// ErrUsage is wrapped by the error of a wrong call.
	ErrUsage = errors.New("wrong call")
	// ErrFailed says that the command did its work and something of it failed;
	// what failed has been printed.
	ErrFailed = errors.New("failed")
)

// newFlags returns a flag set that returns its errors. Help that was asked for
// goes to standard output, all else that it says to standard error.
func newFlags(name string, args []string, stdout io.Writer) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(os.Stderr)
	if slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "-help" || a == "--help" }) {
		set.SetOutput(stdout)
	}
	return set
}

// parse reads flags wherever they stand, before or after the words, and returns
// the words.
func parse(set *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := set.Parse(args); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUsage, err)
		}
		if set.NArg() == 0 {
			return words, nil
		}
		words = append(words, set.Arg(0))
		args = set.Args()[1:]
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
