package flags_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"example.com/subproduct/tenancy/commands/flags"
)

// A flag that belongs to another subcommand is refused by name, with whose it is,
// wherever it stands and whatever its value.
func TestTakes_RefusesAFlagOfAnotherSubcommand(t *testing.T) {
	t.Parallel()
	takes := flags.Takes{"load": {"dry"}, "send": {"dry", "to"}, "sink": {}}
	for args, want := range map[string]string{
		"load --dry":        "",
		"send --dry --to x": "",
		"sink":              "",
		"--dry":             "", // the caller's to refuse, as is an unknown word
		"fly --to x":        "",
		"load --to x":       "ship load takes no --to, which goes with send",
		"--dry sink":        "ship sink takes no --dry, which goes with load and send",
		"sink --dry=false":  "ship sink takes no --dry, which goes with load and send",
	} {
		set, _ := newSet()
		set.String("to", "", "where")
		_, err := takes.Parse(set, strings.Fields(args), io.Discard)
		if want == "" && err != nil || want != "" && (!errors.Is(err, flags.ErrUsage) || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}
