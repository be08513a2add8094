package handlers

import "example.com/subproduct/handlers/server"

// This file has the product's own commands. They are listed and run beside the
// template's, and have the database. A wrong call, exit 2, is the error that
// flags.Refuse of tenancy/commands/flags makes; every other one is exit 1.
// server/README.md shows an example.
//
//	{Name: "count-invoices", Summary: "how many invoices there are", Run: countInvoices},

func commands() []server.Command { return nil }
