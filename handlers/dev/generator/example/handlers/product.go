// Package handlers is a product that is made of what `add` makes: one resource
// with every type of field. It shows that this compiles, and its test that it
// works. But for this file all is written by the test of the generator.
package handlers

import (
	"context"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/dev/generator/example"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy"
)

// Product returns a fresh value of the product.
func Product() server.Product {
	return server.Product{
		Name: "Example", Slug: "example",
		Templates: sub("templates"), TenantSchema: sub("schema/tenant"),
		Routes: routes, Errors: errorAnswers(), OnProvision: seed,
	}
}

// seed gives each tenant a first order line, which the tests of order lines know
// nothing of.
func seed(ctx context.Context, tx pgx.Tx, _ tenancy.Slug) error {
	_, err := tx.Exec(ctx, `
		WITH customer AS (INSERT INTO customers (name) VALUES ('Ours') RETURNING id)
		INSERT INTO order_lines (sku, remark, quantity, price, shipped, due_date, ordered_at, product_id, label, story, customer_id, created_by)
		SELECT 'S-1', '', 1, 1, false, '2027-01-01', now(), gen_random_uuid(), '', 'Ours', id, 'seed' FROM customer`)
	return err
}

func sub(dir string) fs.FS {
	f, err := fs.Sub(example.FS, dir)
	if err != nil {
		panic(err) // only a malformed literal above could cause it
	}
	return f
}
