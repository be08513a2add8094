package tenancy

import (
	"errors"
	"fmt"
)

// LockKey keeps our advisory locks apart from a product's own ("subp"): with it and
// with hashtext of the slug pg_advisory_xact_lock takes the tenant's.
const LockKey = 0x73756270

// ErrBusy says that another transaction holds the tenant's lock, or one of its
// rows: it is being provisioned, migrated, cancelled, or an event of it is being
// applied.
var ErrBusy = errors.New("another transaction holds the tenant's lock")

const (
	// lockTimeout bounds the wait for a tenant's advisory lock.
	lockTimeout = "5s"
	// tableLockTimeout bounds the wait of a migration for a table: everybody
	// behind it in the table's queue waits as long.
	tableLockTimeout = "500ms"
	// idleTimeout ends a transaction whose process has stopped in the middle of
	// it, that its locks do not outlive it: a frozen process, a lost host, or a
	// handler that waits for something else than the database.
	idleTimeout = "10s"
)

// beginLocked opens a transaction that alone may change the tenant's schema,
// its registry row and its queue of events; the zero Slug stands for the shared
// schema. The lock ends with the transaction, so it holds behind a pooler and
// dies with its connection. READ COMMITTED, whatever the database's default is:
// what is read after a wait must be what the one before has left.
func beginLocked(slug Slug) string {
	return fmt.Sprintf(`BEGIN ISOLATION LEVEL READ COMMITTED; DISCARD TEMP; SET LOCAL lock_timeout = '%s'; `+
		`SET LOCAL idle_in_transaction_session_timeout = '%s'; SELECT pg_advisory_xact_lock(%d, hashtext('%s')); `+
		`SET LOCAL lock_timeout = '%s'`, lockTimeout, idleTimeout, LockKey, slug.s, tableLockTimeout)
}

// beginClaim opens a transaction that has no tenant yet.
const beginClaim = `BEGIN; DISCARD TEMP; SET LOCAL lock_timeout = '` + tableLockTimeout + `'; ` +
	`SET LOCAL idle_in_transaction_session_timeout = '` + idleTimeout + `'`
