// Package schema holds the SQL of the product, embedded into the binary:
// tenant for the schema of each tenant, shared for the tables of all.
// See README.md for how to write a migration.
package schema

import (
	"embed"
	"io/fs"
)

//go:embed tenant shared
var files embed.FS

// Tenant are the migrations of every tenant's schema.
func Tenant() fs.FS { return sub("tenant") }

// Shared are the migrations of the product's tables in public.
func Shared() fs.FS { return sub("shared") }

func sub(dir string) fs.FS {
	f, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // only a malformed literal above could cause it
	}
	return f
}
