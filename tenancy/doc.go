// Package tenancy keeps the tenants: their slugs and registry, their schemas
// and migrations, the transactions that data is reached through, and their
// sessions. The inbox of the platform's events is in tenancy/inbox.
//
// A business handler needs DB.InTx, and DB.InShared and DB.EachTenant for what
// is not one tenant's.
package tenancy
