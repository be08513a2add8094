package handlers

import "example.com/subproduct/tenancy"

// Here stands what the product does with the platform's events, by their type,
// each a function in a file of its own. A type that is not here is stored as
// ignored. The server itself makes and ends tenants.
//
//	"invoice.paid": {Apply: invoicePaid},
//
// README.md shows such a function.

func events() tenancy.EventHandlers {
	return tenancy.EventHandlers{}
}
