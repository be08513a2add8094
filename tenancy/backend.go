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
	enter         [entrances]command // see entrance
	begin, commit command

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
	direct := pid == conn.PgConn().PID()
	mode := conn.Config().DefaultQueryExecMode
	b := &backend{
		db: db, conn: conn, direct: direct, known: map[string]*pgconn.StatementDescription{}, met: map[Slug]struct{}{},
		keeps: mode == pgx.QueryExecModeCacheStatement && (direct || db.keepsStatements),
		enter: enterSQL(direct), begin: command{sql: `BEGIN`}, commit: command{sql: `COMMIT`},
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
	if !b.keeps || b.begin.kept != nil {
		return nil
	}
	ours := []*command{&b.begin, &b.commit}
	for i := range b.enter {
		ours = append(ours, &b.enter[i])
	}
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
