//go:build !production

package dev

import (
	"context"
	"flag"
	"io"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev/generator"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/commands/flags"
)

const addUsage = `add RESOURCE name:type…  makes a resource of the product in this folder: a migration, pages, a JSON API, a test

  add invoices number:string:unique amount:numeric due:date paid:bool
  add payments invoice:ref=invoices amount:numeric

The resource is a plural in lower case, with underscores. The types are string (1 to 200 characters), text (to 10,000), int, numeric (exact),
bool, date, timestamp, uuid, and ref=TABLE, which refers to another resource, or table of schema/tenant/: invoice:ref=invoices makes the column
invoice_id with a foreign key and an index, and a list to choose from in the form. Every field is required, unless :optional stands behind its type; :unique is for what no two may have.

`

// Add makes a resource of the product whose source is in the current folder: see
// generator.Add, whose errors it returns.
func Add(_ context.Context, _ server.Product, args []string, _ config.Lookup, out io.Writer) error {
	set := flag.NewFlagSet("add", flag.ContinueOnError)
	set.Usage = func() { _, _ = io.WriteString(set.Output(), addUsage); set.PrintDefaults() }
	singular := set.String("singular", "", "the resource's singular, where it does not follow from the plural; stands before it")
	rest, err := flags.Parse(set, args, out)
	if err != nil {
		return err
	}
	return generator.Add(generator.Target{Root: "."}, *singular, rest, out)
}
