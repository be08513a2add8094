//go:build !production

package dev

import (
	"context"
	"io"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev/clone"
	"example.com/subproduct/handlers/server"
)

// Init is the command `init`: see clone.Init, whose errors it returns.
func Init(ctx context.Context, _ server.Product, args []string, _ config.Lookup, out io.Writer) error {
	return clone.Init(ctx, ".", args, out)
}

// Upgrade is the command `upgrade`: see clone.Upgrade, whose errors it returns.
func Upgrade(ctx context.Context, _ server.Product, args []string, _ config.Lookup, out io.Writer) error {
	return clone.Upgrade(ctx, ".", args, out)
}
