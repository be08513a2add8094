package tenancy

import (
	"cmp"

	"github.com/jackc/pgx/v5/pgconn"
)

// PostgreSQL remembers every table that a connection ever touched, and every
// plan that is kept for it, and gives nothing back: about so many bytes each.
const (
	tableBytes = 16 << 10
	planBytes  = 12 << 10
	// connMemory is what a backend may remember before it is replaced. A new
	// connection is a few milliseconds, and has everything to learn again: what a
	// lane's tenants need should fit, up to 8,000 tables of theirs.
	connMemory = 128 << 20
	// likelyTables is how many tables a tenant has until that is known.
	likelyTables = 8
)

// meet notes that the connection works on the tenant.
func (b *backend) meet(slug Slug) {
	if _, before := b.met[slug]; !before {
		b.met[slug] = struct{}{}
		b.bytes += b.db.tables() * tableBytes
	}
}

// remember notes a statement that is prepared on the connection.
func (b *backend) remember(name string, kept *pgconn.StatementDescription) {
	b.known[name] = kept
	b.bytes += planBytes
}

// full reports whether the connection remembers as much as it may.
func (b *backend) full() bool { return b.bytes >= b.budget() }

func (b *backend) budget() int { return cmp.Or(b.db.options.ConnMemory, connMemory) }

// tables is how many tables a tenant has: those of some tenant, for all have the
// same but while they are migrated. They are counted once.
func (db *DB) tables() int {
	db.countTables.Do(func() {
		go func() {
			var n int64
			err := db.pool.QueryRow(db.base, `
				SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p') AND relname <> 'schema_migrations' AND relnamespace = (
					SELECT to_regnamespace('"tenant_' || slug || '"') FROM public.tenants WHERE status = 'active' ORDER BY slug LIMIT 1)`).Scan(&n)
			if err == nil {
				db.tablesSeen.Store(max(1, n))
			}
		}()
	})
	return int(cmp.Or(db.tablesSeen.Load(), likelyTables))
}
