package clone

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"example.com/subproduct/tenancy/commands/flags"
)

// Upgrade is the command `upgrade` in the product in dir. It returns
// flag.ErrHelp when it has printed its help, and an error that wraps
// flags.ErrUsage for arguments that it refuses. Before anything is written
// everything is checked. Where the result does not build, or the product's suite
// fails, the tree stays.
func Upgrade(ctx context.Context, dir string, args []string, out io.Writer) error {
	set := flag.NewFlagSet("upgrade", flag.ContinueOnError)
	set.Usage = func() {
		fmt.Fprintln(set.Output(), "upgrade [--dry-run] DIR|URL [REF]: the template's folder or repository; REF is a tag, branch or commit of it")
		set.PrintDefaults()
	}
	dryRun := set.Bool("dry-run", false, "say what would be done, and do nothing")
	rest, err := flags.Parse(set, args, out)
	if err != nil {
		return err
	}
	if len(rest) == 0 || len(rest) > 2 {
		return fmt.Errorf("%w: upgrade [--dry-run] DIR|URL [REF], got %q", flags.ErrUsage, rest)
	}
	work, err := os.MkdirTemp("", "upgrade")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	u, err := newUpgrade(ctx, dir, work, rest)
	if err != nil {
		return err
	}
	u.report(out)
	if *dryRun {
		show(out, "To be written or deleted:", slices.Sorted(maps.Keys(u.changes)))
	}
	if *dryRun || len(u.changes) == 0 {
		return nil
	}
	if err := u.changes.apply(dir); err != nil {
		return err
	}
	if err := goRun(ctx, dir, out, "mod", "tidy"); err != nil {
		return err
	}
	return check(ctx, dir, out)
}

// upgrade is what is to be done.
type upgrade struct {
	was, is  *origin
	template tree   // the later version
	product  tree   // without the product's own files
	dir      string // the product's
	from     string // where the template's files are
	work     string // for temporary files

	changes changes
	merged  []string // changed by both, and merged
	decide  []string // for a person, with the reason
}

// newUpgrade compares the three: what the product began from, what it is now,
// and the later version.
func newUpgrade(ctx context.Context, dir, work string, source []string) (*upgrade, error) {
	was, err := readOrigin(dir)
	if err != nil {
		return nil, err
	}
	if err := checkClean(ctx, dir); err != nil {
		return nil, err
	}
	u := &upgrade{was: was, dir: dir, work: work, changes: changes{}}
	if u.from, err = fetch(ctx, work, source); err != nil {
		return nil, err
	}
	if u.template, err = readTree(ctx, u.from); err != nil {
		return nil, err
	}
	if err := u.compare(ctx); err != nil {
		return nil, err
	}
	return u, nil
}

func (u *upgrade) compare(ctx context.Context) (err error) {
	if _, ok := u.template[originFile]; ok {
		return fmt.Errorf("that is a product too, for it has a %s: name the template", originFile)
	}
	next := *u.was
	u.is = &next
	if next.version, err = versionOf(u.template); err != nil {
		return err
	}
	if semver.Compare("v"+next.version, "v"+u.was.version) < 0 {
		return fmt.Errorf("that is version %s of the template, and this product has %s already", next.version, u.was.version)
	}
	if u.product, err = readFiles(u.dir, []string{"go.mod", "go.sum"}); err != nil {
		return err
	}
	next.module, next.ownModule = modfile.ModulePath(u.template["go.mod"].content), modfile.ModulePath(u.product["go.mod"].content)
	if next.module == "" || next.ownModule == "" {
		return errors.New("the product or the template has no go.mod with a module")
	}
	next.begin(u.template)
	return u.files(ctx)
}

// files decides about each of the template's files, before and now.
func (u *upgrade) files(ctx context.Context) error {
	all := maps.Clone(u.was.began)
	maps.Copy(all, u.is.began)
	paths := slices.Sorted(maps.Keys(all))
	here, err := readFiles(u.dir, paths)
	if err != nil {
		return err
	}
	maps.Copy(u.product, here)
	for _, path := range paths {
		if err := u.file(ctx, path); err != nil {
			return err
		}
	}
	if err := u.goModule(); err != nil {
		return err
	}
	if text := u.is.String(); text != u.was.String() {
		u.changes[originFile] = &file{[]byte(text), 0o644}
	}
	return nil
}

func (u *upgrade) report(out io.Writer) {
	fmt.Fprintf(out, "From version %s of the template to %s: %d files to write or delete.\n", u.was.version, u.is.version, len(u.changes))
	if news := newsSince(u.template, u.was.version); news != "" {
		fmt.Fprintf(out, "\nWhat changed for your code (%s):\n%s", newsFile, news)
	}
	show(out, "Changed by you and by the template, and merged:", u.merged)
	show(out, "For you to decide:", u.decide)
}

func show(out io.Writer, title string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(out, "\n%s\n  %s\n", title, strings.Join(lines, "\n  "))
	}
}
