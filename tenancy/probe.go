package tenancy

import (
	"context"

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

// Check makes one empty round trip, connecting first where needed.
func (p *Probe) Check(ctx context.Context) (err error) {
	if p.conn == nil {
		if p.conn, err = pgx.ConnectConfig(ctx, p.db.pool.Config().ConnConfig); err != nil {
			p.conn = nil
			return err
		}
	}
	if err = p.conn.Ping(ctx); err != nil {
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
