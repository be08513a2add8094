package handlers

import (
	"context"
	"fmt"

	"example.com/subproduct/handlers/server"
)

func commands() []server.Command {
	return []server.Command{{Name: "greet", Summary: "says hello", Run: func(_ context.Context, c server.Call) error {
		_, err := fmt.Fprintln(c.Stdout, "hello")
		return err
	}}}
}
