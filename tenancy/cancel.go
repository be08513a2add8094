package tenancy

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

const (
	// cancelTimeout bounds the wait for the answer to a statement that is being
	// cancelled, and for the request to cancel to be over. A connection for which
	// either takes longer is closed.
	cancelTimeout = 500 * time.Millisecond
	// cancelRequestTimeout bounds the request to cancel, which goes over a
	// connection of its own, and which a pooler may keep waiting.
	cancelRequestTimeout = 15 * time.Second
	// cancelDelivery is how long after the server has taken the request its
	// signal may still be on its way to the backend, and hit the next statement.
	cancelDelivery = 100 * time.Millisecond
)

// canceller has a statement whose context ends cancelled at the server, which
// keeps the connection and says whether the statement had an effect. It is
// pgx's own but for one thing: the request is never given up while it is under
// way, for PgBouncer 1.18 ends, with everybody's connections, when it is.
type canceller struct {
	conn  *pgconn.PgConn
	sent  chan struct{} // closed when the request is over
	until time.Time
}

func newCanceller(conn *pgconn.PgConn) ctxwatch.Handler { return &canceller{conn: conn} }

// HandleCancel is called when a statement's context ends.
func (c *canceller) HandleCancel(ctx context.Context) {
	sent := make(chan struct{})
	c.sent, c.until = sent, time.Now().Add(cancelTimeout)
	_ = c.conn.Conn().SetDeadline(c.until)
	go func() {
		defer close(sent)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelRequestTimeout)
		defer cancel()
		_ = c.conn.CancelRequest(ctx)
		time.Sleep(cancelDelivery)
	}()
}

// HandleUnwatchAfterCancel is called before the connection is used again. Where
// the request is still under way it must not be: it could hit what comes next.
func (c *canceller) HandleUnwatchAfterCancel() {
	deadline := time.Unix(1, 0)
	select {
	case <-c.sent:
		deadline = time.Time{}
	case <-time.After(time.Until(c.until)):
	}
	_ = c.conn.Conn().SetDeadline(deadline)
}
