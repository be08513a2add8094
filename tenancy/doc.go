// Package tenancy keeps the tenants: their slugs and registry, their schemas
// and migrations, the transaction that a request's data is reached through,
// their sessions, and the inbox of the platform's events.
//
// A business handler needs one name of it, DB.InTx. An event handler needs
// EventHandler.
package tenancy
