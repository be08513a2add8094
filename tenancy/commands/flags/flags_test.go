package flags_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"example.com/subproduct/tenancy/commands/flags"
)

func newSet() (set *flag.FlagSet, dry *bool) {
	set = flags.New("ship", "ship [--dry] THING…")
	return set, set.Bool("dry", false, "do nothing")
}

// A flag may stand before or after the words; what follows -- is none.
func TestParse_FlagsStandAnywhere(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]struct {
		words []string
		dry   bool
	}{
		"":                {nil, false},
		"--dry":           {nil, true},
		"a b":             {[]string{"a", "b"}, false},
		"--dry a b":       {[]string{"a", "b"}, true},
		"a --dry b":       {[]string{"a", "b"}, true},
		"a b --dry":       {[]string{"a", "b"}, true},
		"-- --dry":        {[]string{"--dry"}, false},
		"a -- -b --dry":   {[]string{"a", "-b", "--dry"}, false},
		"--dry a -- b -c": {[]string{"a", "b", "-c"}, true},
	} {
		set, dry := newSet()
		words, err := flags.Parse(set, strings.Fields(args), io.Discard)
		if err != nil || !slices.Equal(words, want.words) || *dry != want.dry {
			t.Errorf("%q: %q, dry %v, %v; want %v", args, words, *dry, err, want)
		}
	}
}

// The help goes to out; what is wrong is in the error and said nowhere else.
func TestParse_HelpAndErrors(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	set, _ := newSet()
	if _, err := flags.Parse(set, []string{"a", "--help"}, &out); !errors.Is(err, flag.ErrHelp) || !strings.HasPrefix(out.String(), "usage: ship [--dry] THING…\n") {
		t.Errorf("%v: %q", err, &out)
	}
	out.Reset()
	set, _ = newSet()
	_, err := flags.Parse(set, []string{"a", "--wet"}, &out)
	if !errors.Is(err, flags.ErrUsage) || !strings.Contains(err.Error(), "-wet") || !strings.Contains(err.Error(), "usage: ship") || out.Len() > 0 {
		t.Errorf("%v; printed %q", err, &out)
	}
}

func TestParseOnly_RefusesWords(t *testing.T) {
	t.Parallel()
	set, _ := newSet()
	if err := flags.ParseOnly(set, []string{"--dry", "a"}, io.Discard); !errors.Is(err, flags.ErrUsage) || !strings.Contains(err.Error(), `ship takes flags only, got ["a"]`) {
		t.Error(err)
	}
	set, dry := newSet()
	if err := flags.ParseOnly(set, []string{"--dry"}, io.Discard); err != nil || !*dry {
		t.Error(err, *dry)
	}
}

// An error can be a wrong call and be told from others by what it is.
func TestUsage_IsBoth(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("more: %w", flags.Usage(io.ErrUnexpectedEOF))
	if !errors.Is(err, flags.ErrUsage) || !errors.Is(err, io.ErrUnexpectedEOF) || err.Error() != "more: unexpected EOF" {
		t.Error(err)
	}
}
