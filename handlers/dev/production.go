//go:build production

package dev

import (
	"context"
	"io"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/server"
)

// Run is not part of a production build.
func Run(context.Context, server.Product, []string, config.Lookup, io.Writer) error {
	return ErrNotBuilt
}

// Conformance is not part of a production build.
func Conformance(context.Context, server.Product, []string, config.Lookup, io.Writer) error {
	return ErrNotBuilt
}

// Add is not part of a production build.
func Add(context.Context, server.Product, []string, config.Lookup, io.Writer) error {
	return ErrNotBuilt
}
