//go:build production

package dev

import (
	"context"
	"io"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/server"
)

// Init is not part of a production build.
func Init(context.Context, server.Product, []string, config.Lookup, io.Writer) error {
	return ErrNotBuilt
}

// Upgrade is not part of a production build.
func Upgrade(context.Context, server.Product, []string, config.Lookup, io.Writer) error {
	return ErrNotBuilt
}
