// Package handlers is a product that is made of what `add` makes: one resource
// with every type of field. It shows that this compiles, and its test that it
// works. But for this file all is written by the test of the generator.
package handlers

import (
	"io/fs"

	"example.com/subproduct/handlers/dev/generator/example"
	"example.com/subproduct/handlers/server"
)

// Product returns a fresh value of the product.
func Product() server.Product {
	return server.Product{
		Name: "Example", Slug: "example",
		Templates: sub("templates"), TenantSchema: sub("schema/tenant"),
		Routes: routes, Errors: errorAnswers(),
	}
}

func sub(dir string) fs.FS {
	f, err := fs.Sub(example.FS, dir)
	if err != nil {
		panic(err) // only a malformed literal above could cause it
	}
	return f
}
