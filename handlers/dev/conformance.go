//go:build !production

package dev

import (
	"context"
	"io"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev/conformance"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/commands/flags"
)

// Conformance is the command `conformance`: see conformance.Run, whose errors
// it returns. Like the server it also reads .env.
func Conformance(ctx context.Context, _ server.Product, args []string, env config.Lookup, out io.Writer) error {
	env, err := config.WithDotEnv(env, ".env")
	if err != nil {
		return flags.Usage(err)
	}
	return conformance.Run(ctx, args, env, out)
}
