package handlers

import "example.com/subproduct/handlers/server"

// Here stand the product's own commands, which are listed and run beside the
// template's. A command has the database and, like a handler, reaches a
// tenant's data through it.
//
//	{Name: "count-notes", Summary: "how many notes there are", Run: countNotes},

func commands() []server.Command { return nil }
