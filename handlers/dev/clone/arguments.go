package clone

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/module"

	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/commands/flags"
)

// parseInit reads the arguments of init. Its error names everything that is
// wrong with them.
func parseInit(args []string, out io.Writer) (o *origin, withoutSample bool, err error) {
	o = &origin{}
	set := flag.NewFlagSet("init", flag.ContinueOnError)
	set.StringVar(&o.name, "name", "", "the product's name, as its users read it: \"Acme Billing\"")
	set.StringVar(&o.slug, "slug", "", "the product's slug at the platform: acme-billing")
	set.StringVar(&o.ownModule, "module", "", "a module path of your own; without it the path stays, which nothing outside imports")
	set.BoolVar(&withoutSample, "without-sample", false, "take the sample, notes, away")
	rest, err := flags.Parse(set, args, out)
	if err != nil {
		return nil, false, err
	}
	wrong := []error{checkName(o.name), checkSlug(o.slug), checkModule(o.ownModule)}
	if len(rest) > 0 {
		wrong = append(wrong, fmt.Errorf("init takes flags only, got %q", rest))
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, false, fmt.Errorf("%w:\n%w", flags.ErrUsage, err)
	}
	return o, withoutSample, nil
}

const maxName = 60

func checkName(name string) error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }
	switch {
	case name == "":
		return errors.New("--name is missing: the product's name, as its users read it")
	case strings.TrimSpace(name) != name, strings.ContainsFunc(name, unprintable), utf8.RuneCountInString(name) > maxName:
		return fmt.Errorf("--name %q: 1 to %d printable characters, no spaces around them", name, maxName)
	}
	return nil
}

// checkSlug takes what a tenant's slug may be: the contract shows no rule for a
// product's, and this passes in an address, a file's name and a header.
func checkSlug(slug string) error {
	if slug == "" {
		return errors.New("--slug is missing: the product's slug at the platform")
	}
	if _, err := tenancy.ParseSlug(slug); err != nil {
		return fmt.Errorf("--slug %q: 1 to 56 of a-z 0-9 _ -, beginning and ending in a letter or digit", slug)
	}
	return nil
}

func checkModule(path string) error {
	if path == "" {
		return nil
	}
	if err := module.CheckPath(path); err != nil {
		return fmt.Errorf("--module: %w; one like github.com/acme/billing", err)
	}
	return nil
}
