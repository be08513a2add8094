package tenancy

import (
	"context"
	"strconv"
)

// pathSQL points a transaction at a tenant: $1 is the search_path, $2 the schema
// and $4 the statement_timeout. It fails where the schema is gone, for a
// search_path that leads nowhere raises no error and names would fall through to
// public.
const pathSQL = `SELECT set_config('search_path', $1, true), ` + limitSQL + `, $2::text::regnamespace`

// noTemporary makes it fail where the connection has had a temporary table, which
// would be looked at before all others: transact drops those. A pooler's
// connection outlives ours, and DISCARD TEMP goes before it instead.
const noTemporary = `, 1 / (pg_my_temp_schema() = 0)::int`

// ofActive keeps it from having any effect where the tenant, $3, is not active, or
// is another than $5 by now, for its slug was given again (0: any). Then it has no
// row, which is enough before a statement that only reads: it finds no table of a
// tenant, and what it answers is given to nobody. Before any other, orFail makes
// it an error.
const (
	orFail   = `, 1 / count(*)`
	ofActive = ` FROM public.tenants WHERE slug = $3 AND status = 'active' AND $5::bigint IN (0, id)`
)

// The ways to enter a tenant, which may be combined.
const (
	toRead    = 1 << iota // with a statement that only reads
	toStay                // in a transaction that goes on after the message
	entrances = 1 << iota
)

// enterSQL is what enters a tenant in each way.
func enterSQL(direct bool) (ways [entrances]command) {
	for way := range ways {
		sql := pathSQL
		if direct {
			sql += noTemporary
		}
		if way&toStay != 0 {
			sql += idleSQL
		}
		if way&toRead == 0 {
			sql += orFail
		}
		ways[way].sql = sql + ofActive
	}
	return ways
}

// entrance is the message's way to enter its tenant.
func (m *message) entrance() (way int) {
	if m.statement.reads {
		way |= toRead
	}
	if m.begins {
		way |= toStay
	}
	return way
}

// arguments are those of all ways to enter.
func (m *message) arguments(ctx context.Context) [][]byte {
	const prefix, suffix, digits = `"tenant_`, `", public, pg_temp`, 20
	slug := m.slug.s
	text := make([]byte, 0, len(prefix)+len(slug)+len(suffix)+digits)
	text = append(append(append(text, prefix...), slug...), suffix...)
	path, schema := len(text), len(prefix)+len(slug)+1
	text = strconv.AppendInt(text, m.id, 10)
	return [][]byte{text[:path], text[:schema], text[len(prefix) : schema-1], statementLimit(ctx), text[path:]}
}
