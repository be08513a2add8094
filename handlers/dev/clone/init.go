package clone

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
)

// Init is the command `init` in the folder dir. It returns flag.ErrHelp when it
// has printed its help, and an error that wraps ErrUsage for arguments that it
// refuses. Before anything is written everything is checked. Where the product
// then does not build, or its suite fails, the tree stays.
func Init(ctx context.Context, dir string, args []string, out io.Writer) error {
	o, withoutSample, err := parseInit(args, out)
	if err != nil {
		return err
	}
	switch was, err := readOrigin(dir); {
	case err == nil:
		return again(was, o, out)
	case !errors.Is(err, errNoOrigin):
		return err
	}
	c, err := plan(ctx, dir, o, withoutSample)
	if err != nil {
		return err
	}
	if err := c.apply(dir); err != nil {
		return err
	}
	fmt.Fprintf(out, "This is now %s, made from version %s of the template: %d files changed.\n", o.name, o.version, len(c))
	if err := check(ctx, dir, out); err != nil {
		return err
	}
	fmt.Fprintf(out, afterInit, o.name)
	return nil
}

const afterInit = `
Next:
  git add -A && git commit -m %q
  go run . dev       # then open the address that it prints
README.md says where your code goes. Before "go run . serve", put what the platform issued into .env; its
WEBHOOK_SECRET is made up: give it to the platform, or replace it by the platform's.
`

// again is a second call: it changes nothing.
func again(was, o *origin, out io.Writer) error {
	if was.name != o.name || was.slug != o.slug || o.ownModule != "" && o.ownModule != was.ownModule {
		return fmt.Errorf("this is %s (%s) already: its name and slug are in handlers/product.go, its module in go.mod", was.name, was.slug)
	}
	fmt.Fprintf(out, "This is %s already. Nothing was changed.\n", was.name)
	return nil
}

// plan is everything that makes the clone in dir the product.
func plan(ctx context.Context, dir string, o *origin, withoutSample bool) (changes, error) {
	if err := checkClean(ctx, dir); err != nil {
		return nil, err
	}
	template, err := readTree(ctx, dir)
	if err != nil {
		return nil, err
	}
	product, err := o.product(template, withoutSample)
	if err != nil {
		return nil, err
	}
	if err := product.dotEnv(dir); err != nil {
		return nil, err
	}
	return template.to(product), nil
}

// product is what the template becomes.
func (o *origin) product(template tree, withoutSample bool) (product tree, err error) {
	if o.version, err = versionOf(template); err != nil {
		return nil, err
	}
	if o.module = modfile.ModulePath(template["go.mod"].content); o.ownModule == "" {
		o.ownModule = o.module
	}
	o.begin(template)
	product = tree{originFile: {[]byte(o.String()), 0o644}}
	for path, f := range template {
		if kindOf(path) != templateAlone {
			product[path] = file{o.derive(path, f.content), f.mode}
		}
	}
	if err := o.named(product); err != nil {
		return nil, err
	}
	if withoutSample {
		err = product.dropSample()
	}
	return product, err
}

// to is what makes one tree another.
func (t tree) to(other tree) changes {
	c := changes{}
	for path, f := range other {
		if had, ok := t[path]; !ok || string(had.content) != string(f.content) {
			c[path] = &f
		}
	}
	for path := range t {
		if _, ok := other[path]; !ok {
			c[path] = nil
		}
	}
	return c
}

// productFile has the product's name and slug.
const productFile = "handlers/product.go"

// named writes name and slug into product.go.
func (o *origin) named(product tree) error {
	f := product[productFile]
	for field, value := range map[string]string{"Name": o.name, "Slug": o.slug} {
		line := regexp.MustCompile(`(?m)^(\s*` + field + `:\s*)"[^"]*",`)
		if len(line.FindAll(f.content, -1)) != 1 {
			return fmt.Errorf("%s has no line, or several, like %s: \"…\",", productFile, field)
		}
		f.content = line.ReplaceAllFunc(f.content, func(found []byte) []byte {
			return append(line.FindSubmatch(found)[1], strconv.Quote(value)+","...)
		})
	}
	product[productFile] = f
	return nil
}

// dotEnv adds .env, with a secret of its own, unless dir has one. It is not for
// git, and not for others on this machine.
func (t tree) dotEnv(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, ".env")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !strings.Contains(string(t[".gitignore"].content), "\n/.env\n") {
		return errors.New(".gitignore has no line /.env: secrets would be committed")
	}
	content := strings.Replace(string(t[".env.example"].content), "\nWEBHOOK_SECRET=change-me\n", "\nWEBHOOK_SECRET="+rand.Text()+rand.Text()+"\n", 1)
	t[".env"] = file{[]byte(content), 0o600}
	return nil
}

// ErrUsage is wrapped by the error for arguments that are refused.
var ErrUsage = errors.New("wrong call")

// parseFlags reads flags, and returns what is left.
func parseFlags(set *flag.FlagSet, args []string, out io.Writer) ([]string, error) {
	var said strings.Builder
	set.SetOutput(&said)
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		_, _ = io.WriteString(out, said.String())
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %s", ErrUsage, strings.TrimSpace(said.String()))
	}
	return set.Args(), nil
}
