package tenancy

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Query sends one statement on the data of ctx's tenant, as InTx would, in a
// transaction of its own, and returns its rows. It has committed when they have
// been read to their end or closed: then Err has the commit's error. It is one
// round trip where the connection knows the statement, and two where it does
// not.
//
// It returns InTx's errors, and then the statement had no effect; rows are never
// nil. Code that sqlc generates takes a DB as it is, but for :copyfrom and
// :batch, which need InTx.
func (db *DB) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	tenant, err := db.usable(ctx)
	if err != nil {
		return failed{err}, err
	}
	found, err := db.query(ctx, tenant, sql, args)
	if sqlState(err) == codeStalePlan {
		found, err = db.query(ctx, tenant, sql, args)
	}
	if err != nil {
		return failed{err}, err
	}
	return found, nil
}

// QueryRow is Query for the first row. Its Scan returns pgx.ErrNoRows where
// there is none.
func (db *DB) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	found, _ := db.Query(ctx, sql, args...)
	return row{found}
}

// Exec is Query for a statement whose rows do not matter.
func (db *DB) Exec(ctx context.Context, sql string, args ...any) (tag pgconn.CommandTag, err error) {
	if db.statementFor(sql, args) == nil { // perhaps several, which Query does not take
		err = db.InTx(ctx, func(tx pgx.Tx) error { tag, err = tx.Exec(ctx, sql, args...); return err })
		return tag, err
	}
	found, _ := db.Query(ctx, sql, args...)
	found.Close()
	return found.CommandTag(), found.Err()
}

func (db *DB) query(ctx context.Context, tenant Tenant, sql string, args []any) (*rows, error) {
	tx, err := db.newTx(ctx, tenant)
	if err != nil {
		return nil, err
	}
	usageOf(ctx).opened(tx)
	statement := db.statementFor(sql, args)
	if statement == nil {
		return tx.alone(ctx, sql, args)
	}
	m := &message{enters: true, slug: tx.slug, id: tx.id, statement: statement, args: args}
	if !statement.reads {
		m.after = tx.backend.forget
	}
	found, err := tx.send(ctx, m)
	switch {
	case errors.Is(err, errEnter):
		tx.spent = true
		return tx.alone(ctx, sql, args)
	case err != nil:
		tx.reads = statement.reads
		tx.begun = !tx.reads // for what it may have left
		tx.end(ctx, false)
		return nil, err
	}
	found.done = func(err error) {
		tx.begun = err != nil && !statement.reads
		tx.reads = false
		tx.end(ctx, !tx.begun)
	}
	return found, nil
}

// statementFor is nil for what only pgx itself can send.
func (db *DB) statementFor(sql string, args []any) *statement {
	if len(args) > 0 {
		switch args[0].(type) {
		case pgx.QueryExecMode, pgx.QueryResultFormats, pgx.QueryResultFormatsByOID, pgx.QueryRewriter:
			return nil
		}
	}
	if strings.Contains(strings.TrimRight(sql, "; \t\n"), ";") {
		return nil // perhaps several
	}
	return db.statements.get(sql)
}

// alone runs the statement between BEGIN and COMMIT.
func (tx *tenantTx) alone(ctx context.Context, sql string, args []any) (*rows, error) {
	found, err := tx.pgxQuery(ctx, sql, args)
	if err != nil {
		tx.end(ctx, false)
		return nil, err
	}
	commit := func() error {
		if found.Err() != nil {
			return nil
		}
		return tx.commit(ctx)
	}
	return &rows{Rows: found, rest: commit, done: func(err error) { tx.end(ctx, err == nil) }}, nil
}

// newTx takes a connection from the tenant's lane for a transaction that has not
// begun.
func (db *DB) newTx(ctx context.Context, tenant Tenant) (*tenantTx, error) {
	conn, err := db.acquire(ctx, tenant.Slug)
	if err != nil {
		return nil, err
	}
	tx := &tenantTx{db: db, ctx: ctx, slug: tenant.Slug, id: tenant.ID, conn: conn, backend: backendOf(conn.Conn.Conn()), reads: true}
	if tx.backend.conn.PgConn().TxStatus() != 'I' { // somebody has kept the connection, and begun on it
		tx.spent = true
		tx.end(ctx, false)
		return db.newTx(ctx, tenant)
	}
	if err := tx.backend.keep(ctx); err != nil {
		tx.end(ctx, false)
		return nil, beginError(ctx, err)
	}
	tx.backend.meet(tenant.Slug)
	return tx, nil
}

// end gives the connection back, once, after a rollback where there was no
// commit. It is closed where it remembers too much.
func (tx *tenantTx) end(ctx context.Context, committed bool) {
	if tx.over.Swap(true) {
		return
	}
	if tx.listed != nil {
		tx.listed.closed(tx)
	}
	if tx.begun && !committed {
		tx.rollback(ctx)
	}
	if tx.spent || tx.backend.full() {
		_ = tx.conn.Conn.Conn().Close(ctx)
	}
	tx.conn.Release()
}

var _ interface { // what sqlc's code takes
	Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
	Query(context.Context, string, ...any) (pgx.Rows, error)
	QueryRow(context.Context, string, ...any) pgx.Row
} = (*DB)(nil)
