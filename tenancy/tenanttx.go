package tenancy

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/subproduct/tenancy/lanes"
)

// tenantTx is a transaction on a tenant's data. BEGIN and the search_path travel
// with its first statement.
type tenantTx struct {
	db      *DB
	ctx     context.Context // for the methods that have none
	slug    Slug
	id      int64 // of the tenant
	conn    *lanes.Conn
	backend *backend
	begun   bool
	reads   bool   // all statements so far: nothing is to be forgotten
	spent   bool   // the connection is not to be used again
	failed  error  // why it could not be opened
	inner   pgx.Tx // for the methods that are pgx's own; nil: not needed yet
	listed  *Usage // among what is open of it; nil: nowhere
	over    atomic.Bool
}

var _ pgx.Tx = (*tenantTx)(nil)

// errInTx answers a handler that ends the transaction itself.
var errInTx = errors.New("InTx ends the transaction: return nil to commit, an error to roll back")

func (tx *tenantTx) Commit(context.Context) error   { return errInTx }
func (tx *tenantTx) Rollback(context.Context) error { return errInTx }

func (tx *tenantTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	found, err := tx.query(ctx, sql, args)
	if err != nil {
		return failed{err}, err
	}
	return found, nil
}

func (tx *tenantTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	found, _ := tx.Query(ctx, sql, args...)
	return row{found}
}

func (tx *tenantTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if tx.db.statementFor(sql, args) == nil {
		conn, err := tx.plain(ctx)
		if err != nil {
			return pgconn.CommandTag{}, err
		}
		return conn.Exec(ctx, sql, args...)
	}
	found, _ := tx.Query(ctx, sql, args...)
	found.Close()
	return found.CommandTag(), found.Err()
}

func (tx *tenantTx) query(ctx context.Context, sql string, args []any) (pgx.Rows, error) {
	if err := tx.refused(); err != nil {
		return nil, err
	}
	statement := tx.db.statementFor(sql, args)
	if statement == nil {
		return tx.pgxQuery(ctx, sql, args)
	}
	tx.reads = tx.reads && statement.reads
	m := message{begins: !tx.begun, enters: !tx.begun, slug: tx.slug, id: tx.id, statement: statement, args: args}
	found, err := tx.send(ctx, &m)
	tx.begun = !m.begins
	if errors.Is(err, errEnter) {
		tx.rollback(ctx)
		tx.spent = true
		return tx.pgxQuery(ctx, sql, args)
	}
	return found, err
}

func (tx *tenantTx) pgxQuery(ctx context.Context, sql string, args []any) (pgx.Rows, error) {
	conn, err := tx.plain(ctx)
	if err != nil {
		return nil, err
	}
	return conn.Query(ctx, sql, args...)
}

// send sends a statement on the transaction's connection, and has it traced.
func (tx *tenantTx) send(ctx context.Context, m *message) (*rows, error) {
	conn, tracer := tx.backend.conn, tx.db.tracer
	ctx = tracer.TraceQueryStart(ctx, conn, pgx.TraceQueryStartData{SQL: m.statement.sql, Args: m.args})
	found, err := tx.backend.send(ctx, m)
	if err != nil {
		tracer.TraceQueryEnd(ctx, conn, pgx.TraceQueryEndData{Err: err})
		return nil, err
	}
	found.traced = func() {
		tracer.TraceQueryEnd(ctx, conn, pgx.TraceQueryEndData{CommandTag: found.CommandTag(), Err: found.err})
	}
	return found, nil
}

// open begins in a message of its own, which drops temporary tables. Where enter
// failed it says why; where it does not fail, the connection has had a temporary
// table and keeps a schema for them: it is used this once.
func (tx *tenantTx) open(ctx context.Context) error {
	if err := tx.refused(); err != nil || tx.begun {
		return err
	}
	tx.begun = true
	if _, err := tx.conn.Exec(ctx, beginActive(tx.slug, tx.id)+limits(ctx)); err != nil {
		tx.failed, tx.spent = beginError(ctx, err), false
	}
	return tx.failed
}

// refused says why nothing can be sent. Whoever has kept the transaction must not
// reach its connection's next tenant by it.
func (tx *tenantTx) refused() error {
	if tx.over.Load() {
		return pgx.ErrTxClosed
	}
	return tx.failed
}

// plain is the connection, in the transaction, for what is pgx's own.
func (tx *tenantTx) plain(ctx context.Context) (*pgx.Conn, error) {
	if err := tx.open(ctx); err != nil {
		return nil, err
	}
	tx.reads = false
	return tx.backend.conn, nil
}

// commit returns the error with which PostgreSQL refused, or rolled back.
func (tx *tenantTx) commit(ctx context.Context) error {
	if err := tx.open(ctx); err != nil {
		return err
	}
	if pg := tx.backend.conn.PgConn(); pg.TxStatus() == 'I' && !pg.IsBusy() {
		return errInTx // a statement of the handler's has ended it
	}
	tag, err := tx.sendCommit(ctx)
	if err == nil && tag != "COMMIT" {
		err = pgx.ErrTxCommitRollback
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

func (tx *tenantTx) sendCommit(ctx context.Context) (string, error) {
	b := tx.backend
	if tx.inner != nil { // for those who have begun in it to know that it is over
		return "COMMIT", tx.inner.Commit(ctx)
	}
	if !b.keeps {
		tag, err := tx.conn.Exec(ctx, tx.db.commit())
		return tag.String(), err
	}
	ctx = tx.db.tracer.TraceQueryStart(ctx, b.conn, pgx.TraceQueryStartData{SQL: b.commit.sql})
	tag, err := tx.pipeCommit(ctx)
	tx.db.tracer.TraceQueryEnd(ctx, b.conn, pgx.TraceQueryEndData{Err: err})
	return tag, err
}

func (tx *tenantTx) pipeCommit(ctx context.Context) (string, error) {
	b := tx.backend
	p := b.conn.PgConn().StartPipeline(ctx)
	before := 0
	if !tx.reads {
		for _, c := range b.forget {
			c.send(p)
		}
		before = len(b.forget)
	}
	b.commit.send(p)
	if err := p.Sync(); err != nil {
		return "", err
	}
	if err := skip(p, before); err != nil {
		return "", errors.Join(err, closed(p))
	}
	_, tag, err := read(p)
	if err != nil {
		return "", errors.Join(err, closed(p))
	}
	return tag.String(), finish(p)
}

// rollback leaves the connection as it was before the transaction.
func (tx *tenantTx) rollback(ctx context.Context) {
	sql := tx.db.undo()
	if tx.reads {
		sql = `ROLLBACK`
	}
	tx.db.rollback(ctx, tx.conn.Conn, sql)
	tx.begun = false
	if tx.inner != nil {
		_ = tx.inner.Rollback(context.WithoutCancel(ctx)) // for those who have begun in it to know that it is over
	}
}
