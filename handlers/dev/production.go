//go:build production

package dev

import (
	"context"
	"errors"
	"io"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/server"
)

// These commands are not part of a production build.
var Run, Conformance, Add = notBuilt, notBuilt, notBuilt

func notBuilt(context.Context, server.Product, []string, config.Lookup, io.Writer) error {
	return errors.New("this build has no development commands")
}
