package flags

import (
	"flag"
	"io"
	"maps"
	"slices"
	"strings"
)

// Takes are the flags that each subcommand takes.
type Takes map[string][]string

// Parse is the package's Parse, and refuses a flag that the subcommand, the first
// of words, does not take: one that is ignored leads the caller to believe that it
// was obeyed. It lets an unknown subcommand pass.
func (t Takes) Parse(set *flag.FlagSet, args []string, out io.Writer) (words []string, err error) {
	if words, err = Parse(set, args, out); err == nil {
		err = t.check(set, words)
	}
	return words, err
}

func (t Takes) check(set *flag.FlagSet, words []string) (err error) {
	if len(words) == 0 || t[words[0]] == nil {
		return nil
	}
	set.Visit(func(f *flag.Flag) {
		if err == nil && !slices.Contains(t[words[0]], f.Name) {
			err = Refuse("%s %s takes no --%s, which goes with %s", set.Name(), words[0], f.Name, t.with(f.Name))
		}
	})
	return err
}

// with are the subcommands that take the flag.
func (t Takes) with(name string) string {
	words := slices.DeleteFunc(slices.Sorted(maps.Keys(t)), func(word string) bool { return !slices.Contains(t[word], name) })
	return strings.Join(words, " and ")
}
