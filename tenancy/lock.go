package tenancy

import (
	"errors"
	"fmt"
)

// lockSpace keeps our advisory locks apart from a product's own ("subp").
const lockSpace = 0x73756270

// errBusy says that another process works on the tenant and that waiting for
// it took too long.
var errBusy = errors.New("the tenant is being worked on elsewhere")

// beginLocked opens a transaction that alone may change the tenant's schema,
// its registry row and its queue of events; the zero Slug stands for the shared
// schema. The lock ends with the transaction, so it holds behind a pooler and
// dies with its connection. The wait for it, and later for tables, is bounded:
// a DDL statement that waits for a long query holds up everybody behind it.
func beginLocked(slug Slug) string { return beginLockedWithin(slug, "5s") }

// beginLockedWithin is beginLocked with a limit of its own on the wait for the
// tenant. READ COMMITTED, whatever the database's default is: what is read after
// a wait must be what the one before has left.
func beginLockedWithin(slug Slug, wait string) string {
	return fmt.Sprintf(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '%s'; `+
		`SELECT pg_advisory_xact_lock(%d, hashtext('%s')); SET LOCAL lock_timeout = '5s'`, wait, lockSpace, slug.s)
}

// beginClaim opens a transaction that has no tenant yet.
const beginClaim = `BEGIN; SET LOCAL lock_timeout = '5s'`
