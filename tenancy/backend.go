package tenancy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// backend is what is known of one connection of the requests: what is prepared
// on it, and which tenants it has met.
type backend struct {
	db   *DB
	conn *pgx.Conn
	// These are prepared once, when the connection is made. Where it keeps nothing
	// that is prepared (a pooler), they are sent as text each time.
	enter, enterToRead, begin, commit command

	forget []command
	direct bool // no pooler is between
	keeps  bool
	known  map[string]*pgconn.StatementDescription
	plans  map[planKey]*plan // nil: none are kept
	met    map[Slug]struct{}
	bytes  int // what the backend remembers of tenants and plans: see memory.go
}

// command is a statement of ours with no result that anybody reads.
type command struct {
	sql  string
	kept *pgconn.StatementDescription // nil: send the text
}

const backendKey = "backend"

func backendOf(conn *pgx.Conn) *backend {
	b, _ := conn.PgConn().CustomData()[backendKey].(*backend)
	return b
}

// pathSQL points a transaction at a tenant: $1 is the search_path, $2 the schema
// and $4 the statement_timeout. It fails where the schema is gone, for a
// search_path that leads nowhere raises no error and names would fall through to
// public.
const pathSQL = `SELECT set_config('search_path', $1, true), ` + limitSQL + `, $2::text::regnamespace`

// noTemporary makes it fail where the connection has had a temporary table, which
// would be looked at before all others: transact drops those. A pooler's
// connection outlives ours, and DISCARD TEMP goes before it instead.
const noTemporary = `, 1 / (pg_my_temp_schema() = 0)::int`

// ofActive keeps it from having any effect where the tenant, $3, is not active.
// Then it has no row, which is enough before a statement that only reads: it
// finds no table of a tenant, and what it answers is given to nobody. Before any
// other, orFail makes it an error.
const (
	orFail   = `, 1 / count(*)`
	ofActive = ` FROM public.tenants WHERE slug = $3 AND status = 'active'`
)

// forgetSQL removes what a handler may have left on its connection for the
// session's life: cursors, roles, settings, LISTEN, advisory locks, temporary
// tables and the last values of sequences. It is DISCARD ALL, which no
// transaction and no message of several statements may contain, but for
// prepared statements, which are ours.
//
// What the connection was opened with is set again: behind a pooler it is not
// the session's own default, and the pooler would set it before each
// transaction, in a round trip to the server.
func forgetSQL(opened map[string]string) []string {
	sql := []string{
		`CLOSE ALL`, `SET SESSION AUTHORIZATION DEFAULT`, `RESET ALL`, `SET search_path TO pg_catalog`, `UNLISTEN *`,
		`SELECT pg_advisory_unlock_all()`, `DISCARD TEMP`, `DISCARD SEQUENCES`,
	}
	for _, name := range slices.Sorted(maps.Keys(opened)) {
		sql = append(sql, fmt.Sprintf(`SELECT set_config('%s', '%s', false)`, quoted(name), quoted(opened[name])))
	}
	return sql
}

// ready is the AfterConnect of every connection. Between transactions names are
// looked up in pg_catalog alone: no tenant's table is there, and no function that
// somebody has planted in public. Our own SQL names its tables with their schema.
func (db *DB) ready(ctx context.Context, conn *pgx.Conn) error {
	var pid uint32
	err := conn.QueryRow(ctx, `SELECT pg_backend_pid(), set_config('search_path', 'pg_catalog', false)`, pgx.QueryExecModeExec).Scan(&pid, nil)
	if err != nil {
		return err
	}
	direct, path := pid == conn.PgConn().PID(), pathSQL
	if direct {
		path += noTemporary
	}
	mode := conn.Config().DefaultQueryExecMode
	b := &backend{
		db: db, conn: conn, direct: direct, known: map[string]*pgconn.StatementDescription{}, met: map[Slug]struct{}{},
		keeps: mode == pgx.QueryExecModeCacheStatement && (direct || db.keepsStatements),
		enter: command{sql: path + orFail + ofActive}, enterToRead: command{sql: path + ofActive}, begin: command{sql: `BEGIN`}, commit: command{sql: `COMMIT`},
		// Deferred constraints are checked under the transaction's own search_path.
		forget: []command{{sql: `SET CONSTRAINTS ALL IMMEDIATE`}},
	}
	if b.keeps && direct {
		b.plans = map[planKey]*plan{}
	}
	for _, sql := range db.forget {
		b.forget = append(b.forget, command{sql: sql})
	}
	conn.PgConn().CustomData()[backendKey] = b
	return nil
}

func ownName(i int) string { return "own" + strconv.Itoa(i) }

// named is the description of what was prepared under that name.
func named(answer any, name string) *pgconn.StatementDescription {
	kept, _ := answer.(*pgconn.StatementDescription)
	if kept != nil {
		kept.Name = name
	}
	return kept
}

// keep prepares our own commands, in one message, before they are used first:
// then public.tenants is there.
func (b *backend) keep(ctx context.Context) error {
	if !b.keeps || b.enter.kept != nil {
		return nil
	}
	ours := []*command{&b.enter, &b.enterToRead, &b.begin, &b.commit}
	for i := range b.forget {
		ours = append(ours, &b.forget[i])
	}
	p := b.conn.PgConn().StartPipeline(ctx)
	for i, c := range ours {
		p.SendPrepare(ownName(i), c.sql, nil)
	}
	if err := p.Sync(); err != nil {
		return err
	}
	for i, c := range ours {
		answer, err := p.GetResults()
		if err != nil {
			_ = p.Close()
			return err
		}
		c.kept = named(answer, ownName(i))
	}
	return p.Close()
}

// send queues the command.
func (c command) send(p *pgconn.Pipeline, values ...[]byte) {
	if c.kept != nil {
		p.SendQueryStatement(c.kept, values, nil, nil)
		return
	}
	p.SendQueryParams(c.sql, values, nil, nil, nil)
}

// path are the arguments of enter and enterToRead, but for the last.
func (s Slug) path() [][]byte {
	text := make([]byte, 0, len(s.s)+len(`"tenant_", public, pg_temp`))
	text = append(append(append(text, `"tenant_`...), s.s...), `", public, pg_temp`...)
	schema := len(`"tenant_"`) + len(s.s)
	return [][]byte{text, text[:schema], text[len(`"tenant_`) : schema-1]}
}
