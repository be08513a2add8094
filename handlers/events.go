package handlers

import "example.com/subproduct/tenancy/inbox"

// This file has what the product does with the platform's events, by their type.
// Each is a function in a file of its own. A type that is not here is stored as
// ignored. The server itself provisions and cancels tenants.
//
//	"invoice.paid": {Apply: invoicePaid},
//
// server/README.md shows such a function, and what it may rely on.

func events() inbox.Handlers {
	return inbox.Handlers{}
}
