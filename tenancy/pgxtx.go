package tenancy

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// What a transaction has besides statements is pgx's own. It begins in a message
// of its own, and may leave something on the connection.

func (tx *tenantTx) Begin(ctx context.Context) (pgx.Tx, error) {
	inner, err := tx.pgxTx(ctx)
	if err != nil {
		return nil, err
	}
	return inner.Begin(ctx)
}

// pgxTx is a transaction of pgx's that stands for this one, and ends with it.
func (tx *tenantTx) pgxTx(ctx context.Context) (_ pgx.Tx, err error) {
	if tx.inner != nil {
		return tx.inner, nil
	}
	conn, err := tx.plain(ctx)
	if err != nil {
		return nil, err
	}
	tx.inner, err = conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: `SELECT`, CommitQuery: tx.db.commit()})
	return tx.inner, err
}

func (tx *tenantTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, source pgx.CopyFromSource) (int64, error) {
	conn, err := tx.plain(ctx)
	if err != nil {
		return 0, err
	}
	return conn.CopyFrom(ctx, table, columns, source)
}

func (tx *tenantTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	inner, err := tx.pgxTx(ctx)
	if err != nil {
		return failedBatch{err}
	}
	return inner.SendBatch(ctx, b)
}

// errPrepare answers a handler that prepares a statement: its name would stay on
// the connection, for the next tenant to meet.
var errPrepare = errors.New("statements are prepared by themselves: send the SQL each time")

func (tx *tenantTx) Prepare(context.Context, string, string) (*pgconn.StatementDescription, error) {
	return nil, errPrepare
}

// LargeObjects panics where the transaction cannot be opened.
func (tx *tenantTx) LargeObjects() pgx.LargeObjects {
	inner, err := tx.pgxTx(tx.ctx)
	if err != nil {
		panic(err)
	}
	return inner.LargeObjects()
}

// Conn is the connection, in the transaction; nil where that cannot be opened.
func (tx *tenantTx) Conn() *pgx.Conn {
	conn, err := tx.plain(tx.ctx)
	if err != nil {
		return nil
	}
	return conn
}

// failedBatch is what a batch returns that could not be sent.
type failedBatch struct{ err error }

func (b failedBatch) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, b.err }
func (b failedBatch) Query() (pgx.Rows, error)         { return failed(b), b.err }
func (b failedBatch) QueryRow() pgx.Row                { return row{failed(b)} }
func (b failedBatch) Close() error                     { return b.err }
func (b failedBatch) Tx() pgx.Tx                       { return nil }
