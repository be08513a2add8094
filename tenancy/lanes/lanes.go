// Package lanes decides which connection serves which tenant. A backend's first
// touch of a tenant costs more than a query does, and memory that it never gives
// back; so a tenant is kept to the few connections of one lane, which stay warm
// for it. Lanes are a bulkhead too: a tenant whose requests are slow holds a
// quarter of the connections and no more.
//
// A tenant waits for its own lane first. Where no connection comes back to that
// for a moment, the lane is stuck, and its tenants borrow from the other lanes
// until one does.
package lanes

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// mostLanes is how many lanes there are where the connections suffice. More
	// are warmer and wait longer: with a connection for each, the slowest
	// requests take three times as long.
	mostLanes = 4
	// leastConns is how many connections a lane has, where there are so many.
	leastConns = 2
	// moment is how long nothing must have come back for a lane to be stuck.
	moment = 5 * time.Millisecond
)

// Lanes are the connections of the requests. All methods may be called at the
// same time.
type Lanes struct {
	mu      sync.Mutex
	lanes   []lane
	tenants map[string]*tenant // all that were ever met
	queue   []*waiter          // in the order of arrival
	most    int                // connections that one tenant may hold

	acquired atomic.Int64 // how often
	waited   atomic.Int64 // nanoseconds, for all of these together
}

// lane is a pool and what is free of it. Whoever has taken one of free finds a
// connection in the pool, or makes one.
type lane struct {
	pool     *pgxpool.Pool
	free     int
	returned int  // how often a connection came back
	stuck    bool // somebody has waited for a moment in vain, and none came back since
}

type tenant struct {
	home   int     // its lane
	held   int     // connections
	shared *tenant // its use of the shared tables; nil: this is it
}

type waiter struct {
	tenant  *tenant
	seen    int      // returned, of its lane, when this moment of waiting began
	granted chan int // the lane, once there is a place
}

// New makes lanes of conns connections in all, whose pools open makes; one lane
// where they are not split. It returns open's error.
func New(conns int, split bool, open func(conns int) (*pgxpool.Pool, error)) (*Lanes, error) {
	n := 1
	if split {
		n = max(1, min(mostLanes, conns/leastConns))
	}
	l := &Lanes{tenants: map[string]*tenant{}, most: max(min(conns, leastConns), conns/mostLanes)}
	if !split {
		l.most = conns
	}
	for i := range n {
		size := conns / n
		if i < conns%n {
			size++
		}
		pool, err := open(size)
		if err != nil {
			for _, made := range l.lanes {
				made.pool.Close()
			}
			return nil, err
		}
		l.lanes = append(l.lanes, lane{pool: pool, free: size})
	}
	return l, nil
}

// String says how the connections are shared out: "3+3+2".
func (l *Lanes) String() string {
	text := ""
	for _, lane := range l.lanes {
		text += fmt.Sprintf("+%d", lane.pool.Config().MaxConns)
	}
	return text[1:]
}

// Pools returns the pool of each lane, to be counted and not to be taken from.
func (l *Lanes) Pools() []*pgxpool.Pool {
	pools := make([]*pgxpool.Pool, len(l.lanes))
	for i := range l.lanes {
		pools[i] = l.lanes[i].pool
	}
	return pools
}

// Conn is a connection that is held for a tenant until Release.
type Conn struct {
	*pgxpool.Conn
	lanes  *Lanes
	lane   int
	tenant *tenant
}

// Acquire returns a connection for the tenant of that name. It waits until ctx
// ends, and then returns its error; or it returns why none could be made.
func (l *Lanes) Acquire(ctx context.Context, name string) (*Conn, error) {
	return l.acquire(ctx, l.met(name))
}

// AcquireShared is Acquire for the tables that all tenants share. A tenant has as
// many connections for these as for its own data, on the next lane: whoever holds
// one for that may ask for one of these, and must not wait for themselves.
func (l *Lanes) AcquireShared(ctx context.Context, name string) (*Conn, error) {
	return l.acquire(ctx, l.met(name).shared)
}

func (l *Lanes) acquire(ctx context.Context, t *tenant) (*Conn, error) {
	began := time.Now()
	n, err := l.enter(ctx, t)
	if err != nil {
		return nil, err
	}
	conn, err := l.lanes[n].pool.Acquire(ctx)
	if err != nil {
		l.leave(n, t)
		return nil, err
	}
	l.acquired.Add(1)
	l.waited.Add(int64(time.Since(began)))
	return &Conn{conn, l, n, t}, nil
}

// Acquired is how often Acquire has returned a connection, and what that took in
// all.
func (l *Lanes) Acquired() (n int64, took time.Duration) {
	return l.acquired.Load(), time.Duration(l.waited.Load())
}

// Release gives the connection back. It may be called once.
func (c *Conn) Release() {
	c.Conn.Release()
	c.lanes.leave(c.lane, c.tenant)
}

// met is the tenant of that name. Its lane is the next in turn when it is met
// first, so that few tenants are spread as evenly as many.
func (l *Lanes) met(name string) *tenant {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tenants[name]
	if t == nil {
		n := len(l.tenants)
		t = &tenant{home: n % len(l.lanes), shared: &tenant{home: (n + 1) % len(l.lanes)}}
		l.tenants[name] = t
	}
	return t
}
