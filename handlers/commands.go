package handlers

import "example.com/subproduct/handlers/server"

// This file has the product's own commands. They are listed and run beside the
// template's, and have the database. server/README.md shows an example.
//
//	{Name: "count-invoices", Summary: "how many invoices there are", Run: countInvoices},

func commands() []server.Command { return nil }
