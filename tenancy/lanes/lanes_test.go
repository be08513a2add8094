package lanes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/subproduct/tenancy/lanes"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

func newLanes(t *testing.T, conns int) *lanes.Lanes {
	t.Helper()
	url := pgtest.URL(t)
	open := func(conns int) (*pgxpool.Pool, error) {
		c, err := pgxpool.ParseConfig(url)
		if err != nil {
			return nil, err
		}
		c.MaxConns = int32(conns)
		pool, err := pgxpool.NewWithConfig(t.Context(), c)
		if err == nil {
			t.Cleanup(func() { go pool.Close() }) // it waits for what a test that failed still holds
		}
		return pool, err
	}
	spare, err := open(1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := lanes.New(conns, true, spare, open)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func acquire(t *testing.T, l *lanes.Lanes, tenant string) *lanes.Conn {
	t.Helper()
	return acquireFor(t, l, tenant, nil)
}

func acquireFor(t *testing.T, l *lanes.Lanes, tenant string, by *lanes.Holder) *lanes.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := l.Acquire(ctx, tenant, by)
	if err != nil {
		t.Fatalf("%s: %v", tenant, err)
	}
	return c
}

func refused(t *testing.T, l *lanes.Lanes, tenant string) {
	t.Helper()
	refusedFor(t, l, tenant, nil)
}

func refusedFor(t *testing.T, l *lanes.Lanes, tenant string, by *lanes.Holder) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if c, err := l.Acquire(ctx, tenant, by); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s: %v, want it to wait", tenant, err)
		c.Release()
	}
}

func TestLanes_ShareOutTheConnections(t *testing.T) {
	t.Parallel()
	for conns, want := range map[int]string{1: "1", 2: "2", 3: "3", 4: "2+2", 7: "3+2+2", 8: "2+2+2+2", 16: "4+4+4+4", 30: "8+8+7+7"} {
		if got := newLanes(t, conns).String(); got != want {
			t.Errorf("%d: %s, want %s", conns, got, want)
		}
	}
}

// A tenant stays with the connections of its lane.
func TestLanes_ATenantKeepsItsConnections(t *testing.T) {
	t.Parallel()
	l := newLanes(t, 8)
	backends := map[uint32]bool{}
	for range 20 {
		for i := range 8 {
			c := acquire(t, l, fmt.Sprint("other", i))
			c.Release()
		}
		c := acquire(t, l, "acme")
		backends[c.Conn.Conn().PgConn().PID()] = true
		c.Release()
	}
	if len(backends) > 2 {
		t.Errorf("%d backends served one tenant, want those of one lane", len(backends))
	}
}

// A few tenants have every lane between them, also where each takes second
// connections too.
func TestLanes_FewTenantsAreSpread(t *testing.T) {
	t.Parallel()
	l := newLanes(t, 8)
	backends := map[uint32]bool{}
	for i := range 4 {
		var by lanes.Holder
		c := acquireFor(t, l, fmt.Sprint("t", i), &by)
		backends[c.Conn.Conn().PgConn().PID()] = true
		acquireFor(t, l, fmt.Sprint("t", i), &by).Release()
		c.Release()
	}
	if len(backends) != 4 {
		t.Errorf("four tenants in turn were served by %d connections, want one of each lane", len(backends))
	}
}

// A tenant that holds its share waits for itself; all others are served, those
// of its lane from other lanes.
func TestLanes_AStuckTenantTakesAQuarter(t *testing.T) {
	t.Parallel()
	l := newLanes(t, 8)
	first, second := acquire(t, l, "stuck"), acquire(t, l, "stuck")
	refused(t, l, "stuck")
	for i := range 100 {
		acquire(t, l, fmt.Sprint("other", i)).Release()
	}
	refused(t, l, "stuck")
	first.Release()
	acquire(t, l, "stuck").Release()
	second.Release()
}

// Once a lane is known to be stuck, its tenants wait no moment any more.
func TestLanes_AStuckLanesTenantsBorrowAtOnce(t *testing.T) {
	t.Parallel()
	l := newLanes(t, 4)
	held := []*lanes.Conn{acquire(t, l, "stuck"), acquire(t, l, "quick"), acquire(t, l, "stuck")}
	held[1].Release()
	soonest := time.Hour
	for range 10 {
		began := time.Now()
		c := acquire(t, l, "other") // of the same lane as the first
		soonest = min(soonest, time.Since(began))
		c.Release()
	}
	if soonest >= 5*time.Millisecond {
		t.Errorf("it took %v or longer, want no moment of waiting", soonest)
	}
	held[0].Release()
	held[2].Release()
}

// A long line of one lane, which moves on, is served by another that has none.
func TestLanes_NoLineIsMuchLongerThanTheOthers(t *testing.T) {
	t.Parallel()
	l := newLanes(t, 4)
	var open []*lanes.Conn
	for i := range 40 { // of each lane in turn
		c := acquire(t, l, fmt.Sprint("t", i))
		if open = append(open, c); len(open) == 4 { // every connection has been made
			for _, c := range open {
				c.Release()
			}
			open = nil
		}
	}
	var backends sync.Map
	var users sync.WaitGroup
	for i := 0; i < 40; i += 2 {
		users.Go(func() {
			c := acquire(t, l, fmt.Sprint("t", i))
			defer c.Release()
			backends.Store(c.Conn.Conn().PgConn().PID(), true)
			if _, err := c.Exec(t.Context(), `SELECT pg_sleep(0.003)`); err != nil {
				t.Error(err)
			}
		})
	}
	users.Wait()
	n := 0
	backends.Range(func(any, any) bool { n++; return true })
	if n <= 2 {
		t.Errorf("the line of one lane was served by %d backends, want those of the other too", n)
	}
}

// Who gives up takes nothing with them, and nobody is forgotten.
func TestLanes_EveryPlaceComesBack(t *testing.T) {
	t.Parallel()
	l := newLanes(t, 4)
	var held, most atomic.Int64
	var users sync.WaitGroup
	for i := range 64 {
		users.Go(func() {
			for n := range 50 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%5)*time.Millisecond+100*time.Microsecond)
				var by lanes.Holder
				if c, err := l.Acquire(ctx, fmt.Sprint("t", i%6), &by); err == nil {
					most.Store(max(most.Load(), held.Add(1)))
					if second, err := l.Acquire(ctx, fmt.Sprint("t", n%6), &by); err == nil {
						second.Release()
					}
					held.Add(-1)
					c.Release()
				}
				cancel()
			}
		})
	}
	users.Wait()
	if n := most.Load(); n > 4 {
		t.Errorf("%d connections were held at once, want at most 4", n)
	}
	var by lanes.Holder
	var all []*lanes.Conn
	for i := range 4 { // all are there again, the last as a second one
		all = append(all, acquireFor(t, l, fmt.Sprint("t", i), &by))
	}
	refusedFor(t, l, "t5", &by)
	for _, c := range all {
		c.Release()
	}
}

// First come, first served, also where one is kept from those who wait.
func TestLanes_AreFair(t *testing.T) {
	t.Parallel()
	served(t, newLanes(t, 1))
	l := newLanes(t, 2)
	ask(t, l)
	served(t, l)
}

// served has ten wait for the one connection that they may have.
func served(t *testing.T, l *lanes.Lanes) {
	t.Helper()
	held := acquire(t, l, "a")
	var mu sync.Mutex
	var order []int
	var users sync.WaitGroup
	for i := range 10 {
		started := l.Waiting()
		users.Go(func() {
			c := acquire(t, l, fmt.Sprint("t", i))
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			c.Release()
		})
		for l.Waiting() == started {
			time.Sleep(time.Millisecond)
		}
	}
	held.Release()
	users.Wait()
	if fmt.Sprint(order) != "[0 1 2 3 4 5 6 7 8 9]" {
		t.Errorf("served in the order %v", order)
	}
}
