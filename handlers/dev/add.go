//go:build !production

package dev

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev/generator"
	"example.com/subproduct/handlers/server"
)

const addUsage = `add RESOURCE name:type…  makes a resource of the product in this folder: a migration, pages, a JSON API, a test

  add invoices number:string:unique amount:numeric due:date paid:bool

The resource is a plural in lower case, with underscores. The types are string (1 to 200 characters), text (to 10,000), int, numeric (exact),
bool, date, timestamp and uuid. Every field is required, unless :optional stands behind its type; :unique is for what no two may have.

`

// Add makes a resource of the product whose source is in the current folder: see
// generator.Add. It returns an error that wraps server.ErrUsage for a call that
// is wrong or not possible there.
func Add(_ context.Context, _ server.Product, args []string, _ config.Lookup, out io.Writer) error {
	var said strings.Builder
	set := flag.NewFlagSet("add", flag.ContinueOnError)
	set.SetOutput(&said)
	set.Usage = func() { said.WriteString(addUsage); set.PrintDefaults() }
	singular := set.String("singular", "", "the resource's singular, where it does not follow from the plural; stands before it")
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		_, _ = io.WriteString(out, said.String())
		return err
	case err != nil:
		return fmt.Errorf("%w: %s", server.ErrUsage, strings.TrimSpace(said.String()))
	}
	err := generator.Add(generator.Target{Root: "."}, *singular, set.Args(), out)
	if generator.Refused(err) {
		return usage{err}
	}
	return err
}
