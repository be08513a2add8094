package lanes

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Holder is in whose name connections are held: a request. Its zero value holds
// none.
type Holder struct{ held atomic.Int32 }

// add is nothing where nobody counts.
func (h *Holder) add(n int32) {
	if h != nil {
		h.held.Add(n)
	}
}

// Conn is a connection that is held for a tenant until Release.
type Conn struct {
	*pgxpool.Conn
	lanes  *Lanes
	lane   int
	tenant *tenant
	holder *Holder
}

// Acquire returns a connection for the tenant of that name. It waits until ctx
// ends, and then returns its error; or it returns why none could be made.
//
// For a holder that has one already it is a second one: a tenant has a share of
// these too, on the next lane. A nil holder holds none.
func (l *Lanes) Acquire(ctx context.Context, name string, by *Holder) (*Conn, error) {
	began := time.Now()
	n, t, err := l.enter(ctx, name, by != nil && by.held.Load() > 0)
	if err != nil {
		return nil, err
	}
	conn, err := l.pool(n).Acquire(ctx)
	if err != nil {
		l.leave(n, t)
		return nil, err
	}
	by.add(1)
	l.acquired.Add(1)
	l.waited.Add(int64(time.Since(began)))
	return &Conn{conn, l, n, t, by}, nil
}

// Acquired is how often Acquire has returned a connection, and what that took in
// all.
func (l *Lanes) Acquired() (n int64, took time.Duration) {
	return l.acquired.Load(), time.Duration(l.waited.Load())
}

// Release gives the connection back. It may be called once.
func (c *Conn) Release() {
	c.Conn.Release()
	c.holder.add(-1)
	c.lanes.leave(c.lane, c.tenant)
}

// met is the tenant of that name. Its lane is the next in turn when it is met
// first, so that few tenants are spread as evenly as many. l.mu is held.
func (l *Lanes) met(name string, nested bool) *tenant {
	t := l.tenants[name]
	if t == nil {
		n := len(l.tenants)
		t = &tenant{home: n % len(l.lanes), second: &tenant{home: (n + 1) % len(l.lanes)}}
		l.tenants[name] = t
	}
	if nested {
		l.nests = true
		return t.second
	}
	return t
}
