package clone

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Init is the command `init` in the folder dir. It returns flag.ErrHelp when it
// has printed its help, and an error that wraps flags.ErrUsage for arguments
// that it refuses. Before anything is written everything is checked. Where the
// product then does not build, or its suite fails, the tree stays.
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
