// Package schema holds the SQL of the product, embedded into the binary:
// shared for the public schema, tenant for the schema of each tenant.
// See README.md for how to write a migration.
package schema

import (
	"embed"
	"io/fs"
)

//go:embed shared tenant
var files embed.FS

// Shared are the migrations of the public schema. They belong to the template.
func Shared() fs.FS { return sub("shared") }

// Tenant are the migrations of every tenant's schema. They are yours.
func Tenant() fs.FS { return sub("tenant") }

func sub(dir string) fs.FS {
	f, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // only a malformed literal above could cause it
	}
	return f
}
