package tenancy

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// silence is how long a peer may leave what was sent to it without an
	// acknowledgement of its kernel. A server that is only busy, or stopped,
	// does acknowledge: statements may take longer.
	silence = 5 * time.Second
	// pingTimeout bounds the look at a connection that was idle.
	pingTimeout = 2 * time.Second
)

// dial connects to a server whose packets may one day vanish. Where nothing is
// sent, for an answer is waited for, probes are.
func dial() pgconn.DialFunc {
	dialer := &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence, Interval: time.Second, Count: 3},
		Control:         limitSilence,
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &connection{conn}, nil
	}
}

// connection marks its failures. The end of a deadline is none: pgx sets one
// where a context ends.
type connection struct{ net.Conn }

func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, lost(err)
}

func (c *connection) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, lost(err)
}

func lost(err error) error {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return &lostError{err}
}
