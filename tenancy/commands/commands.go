// Package commands are the operator's commands: migrate, tenants, events, jobs
// and schema-script. They read arguments and print; what they do is in tenancy.
package commands

import (
	"encoding/json"
	"errors"
	"example.com/subproduct/tenancy/commands/flags"
	"io"
)

// ErrFailed says that a command did its work and something of it failed; what
// failed has been printed.
var ErrFailed = errors.New("failed")

// noJSON refuses --json for what answers with a sentence.
func noJSON(command, word string) error {
	return flags.Refuse("%s %s prints no JSON: --json goes with list and show", command, word)
}

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
