// Package example is the files of a product that has the resource of every type.
package example

import "embed"

// FS has the pages and the migrations.
//
//go:embed templates schema
var FS embed.FS
