// Package flags reads the arguments of a command.
package flags

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// ErrUsage is wrapped by the error of a wrong call or a wrong configuration.
var ErrUsage = errors.New("wrong call")

// Usage is an error that is ErrUsage as well, in its own words.
func Usage(err error) error { return usage{err} }

type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

func (usage) Is(target error) bool { return target == ErrUsage }

// Refuse is the error of a wrong call, which the text explains.
func Refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUsage, fmt.Sprintf(format, args...))
}

// New returns flags whose help begins with a line on how to call.
func New(name, call string) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.Usage = func() {
		fmt.Fprintf(set.Output(), "usage: %s\n", call)
		set.PrintDefaults()
	}
	return set
}

// Parse reads flags wherever they stand, before or after the words, and returns
// the words; all that follows -- is words. It returns flag.ErrHelp when it has
// printed the help to out, and an error that wraps ErrUsage for arguments that it
// refuses.
func Parse(set *flag.FlagSet, args []string, out io.Writer) (words []string, err error) {
	var said strings.Builder
	set.SetOutput(&said)
	for {
		err := set.Parse(args)
		switch {
		case errors.Is(err, flag.ErrHelp):
			_, _ = io.WriteString(out, said.String())
			return nil, err
		case err != nil:
			return nil, Refuse("%s", strings.TrimSpace(said.String()))
		}
		rest := set.Args()
		if read := len(args) - len(rest); len(rest) == 0 || read > 0 && args[read-1] == "--" {
			return append(words, rest...), nil
		}
		words, args = append(words, rest[0]), rest[1:]
	}
}

// ParseOnly is Parse for a command that takes no words.
func ParseOnly(set *flag.FlagSet, args []string, out io.Writer) error {
	words, err := Parse(set, args, out)
	if err == nil && len(words) > 0 {
		err = Refuse("%s takes flags only, got %q", set.Name(), words)
	}
	return err
}
