package tenancy

import "github.com/jackc/pgx/v5"

// maxTenantsPerConn bounds a backend's memory. PostgreSQL remembers every table
// that a connection ever touched, about 9 KB for a small one, and never forgets;
// connLifetime alone does not bound what a busy connection meets. With 20 tables
// a tenant this is some 45 MB a connection, for a new connection of a few
// milliseconds once in so many tenants.
const maxTenantsPerConn = 250

const metKey = "tenancy.tenants"

// meet notes that a connection works on the tenant.
func meet(conn *pgx.Conn, slug Slug) {
	met, _ := conn.PgConn().CustomData()[metKey].(map[Slug]struct{})
	if met == nil {
		met = map[Slug]struct{}{}
		conn.PgConn().CustomData()[metKey] = met
	}
	met[slug] = struct{}{}
}

// metFewerThan is the pool's AfterRelease: a connection that has met most
// tenants or more is closed instead of being used again.
func metFewerThan(most int) func(*pgx.Conn) bool {
	return func(conn *pgx.Conn) bool {
		met, _ := conn.PgConn().CustomData()[metKey].(map[Slug]struct{})
		return len(met) < most
	}
}
