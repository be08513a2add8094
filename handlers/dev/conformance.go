//go:build !production

package dev

import (
	"context"
	"errors"
	"io"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/dev/conformance"
	"example.com/subproduct/handlers/server"
)

// Conformance is the command `conformance`: see conformance.Run, whose errors
// it returns. Like the server it also reads .env. An error for wrong arguments
// or settings is server.ErrUsage too.
func Conformance(ctx context.Context, _ server.Product, args []string, env config.Lookup, out io.Writer) error {
	env, err := config.WithDotEnv(env, ".env")
	if err != nil {
		return usage{err}
	}
	err = conformance.Run(ctx, args, env, out)
	if errors.Is(err, conformance.ErrUsage) {
		return usage{err}
	}
	return err
}

// usage is an error that is server.ErrUsage as well, in its own words.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

func (usage) Is(target error) bool { return target == server.ErrUsage }
