package tenancy

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Probe asks the database whether it is there, over a connection of its own: a
// pool that is used up is not a database that is down. It is not for
// simultaneous use.
type Probe struct {
	db   *DB
	conn *pgx.Conn
}

// NewProbe returns a probe that is not connected yet.
func (db *DB) NewProbe() *Probe { return &Probe{db: db} }

// ErrReadOnly says that the database takes no writes.
var ErrReadOnly = errors.New("the database is read-only")

// Check makes one round trip, connecting first where needed. It returns
// ErrReadOnly for a database that takes no writes, and then connects anew the
// next time: another one of the URL's hosts may take them by then.
func (p *Probe) Check(ctx context.Context) (err error) {
	if p.conn == nil {
		if p.conn, err = p.db.connect(ctx); err != nil {
			return err
		}
	}
	results, err := p.conn.PgConn().Exec(ctx, `SHOW transaction_read_only`).ReadAll()
	if err == nil && string(results[0].Rows[0][0]) == "on" {
		err = ErrReadOnly
	}
	if err != nil {
		p.Close(ctx)
	}
	return err
}

// Close drops the connection. It does not wait for an answer when ctx is over.
func (p *Probe) Close(ctx context.Context) {
	if p.conn != nil {
		_ = p.conn.Close(ctx)
		p.conn = nil
	}
}
