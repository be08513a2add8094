// Package commands are the operator's commands: migrate, tenants, events, jobs
// and schema-script. They read arguments and print; what they do is in tenancy.
package commands

import (
	"encoding/json"
	"errors"
	"io"
)

// ErrFailed says that a command did its work and something of it failed; what
// failed has been printed.
var ErrFailed = errors.New("failed")

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// errorOr goes on where there is no error yet.
func errorOr(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}
