// Package lanes decides which connection serves which tenant. A backend's first
// touch of a tenant costs more than a query does, and memory that it never gives
// back; so a tenant is kept to the few connections of one lane, which stay warm
// for it. Lanes are a bulkhead too: a tenant whose requests are slow holds a
// quarter of the connections and no more.
//
// A tenant waits for its own lane first. Where no connection comes back to that
// for a moment, the lane is stuck, and its tenants borrow from the other lanes
// until one does. Who has waited a moment longer than anybody of another lane
// borrows from that, too, so that no line is much longer than the others.
//
// A request that holds a connection may ask for a second one. Where all hold one
// and ask, nobody would ever finish: so from the first that asks, the last free
// connection is kept for second ones.
package lanes

import (
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
	// moment is how long nothing must have come back for a lane to be stuck, and
	// how much longer one may wait than those of other lanes.
	moment = 5 * time.Millisecond
)

// Lanes are the connections of the requests. All methods may be called at the
// same time.
type Lanes struct {
	mu      sync.Mutex
	lanes   []*lane
	tenants map[string]*tenant // all that were ever met
	queue   []*waiter          // in the order of arrival
	most    int                // connections that one tenant may hold
	conns   int                // in all
	free    int                // of these
	nested  int                // held as second ones
	nests   bool               // a second one has been asked for
	watched bool               // by look
	spare   *pgxpool.Pool      // see relieve; nil: none

	acquired atomic.Int64 // how often
	waited   atomic.Int64 // nanoseconds, for all of these together
}

// lane is a pool and what is free of it. Whoever has taken one of free finds a
// connection in the pool, or makes one.
type lane struct {
	pool  *pgxpool.Pool
	free  int
	moved int  // how often a connection was taken, or came back
	seen  int  // moved, when look was here last
	stuck bool // all were held for a moment, and none came back since
}

type tenant struct {
	home   int     // its lane
	held   int     // connections
	second *tenant // its second connections, of requests that hold one; nil: this is it
}

func (t *tenant) nested() bool { return t.second == nil }

type waiter struct {
	tenant  *tenant
	since   time.Time
	granted chan int // the lane, once there is a place
}

// New makes lanes of conns connections in all, whose pools open makes; one lane
// where they are not split. spare, which may be nil, is a pool beside them for
// relieve. It returns open's error.
func New(conns int, split bool, spare *pgxpool.Pool, open func(conns int) (*pgxpool.Pool, error)) (*Lanes, error) {
	n := 1
	if split {
		n = max(1, min(mostLanes, conns/leastConns))
	}
	l := &Lanes{tenants: map[string]*tenant{}, conns: conns, free: conns, spare: spare}
	l.most = max(min(conns, leastConns), conns/mostLanes)
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
		l.lanes = append(l.lanes, &lane{pool: pool, free: size})
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
func (l *Lanes) Pools() (pools []*pgxpool.Pool) {
	for _, lane := range l.lanes {
		pools = append(pools, lane.pool)
	}
	return pools
}
