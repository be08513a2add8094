//go:build !production

package dev

import (
	"context"
	"errors"
	"io"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev/clone"
	"example.com/subproduct/handlers/server"
)

// Init is the command `init`: see clone.Init, whose errors it returns. An error
// for wrong arguments is server.ErrUsage too.
func Init(ctx context.Context, _ server.Product, args []string, _ config.Lookup, out io.Writer) error {
	return ofClone(clone.Init(ctx, ".", args, out))
}

// Upgrade is the command `upgrade`: see clone.Upgrade, whose errors it returns.
// An error for wrong arguments is server.ErrUsage too.
func Upgrade(ctx context.Context, _ server.Product, args []string, _ config.Lookup, out io.Writer) error {
	return ofClone(clone.Upgrade(ctx, ".", args, out))
}

func ofClone(err error) error {
	if errors.Is(err, clone.ErrUsage) {
		return usage{err}
	}
	return err
}
