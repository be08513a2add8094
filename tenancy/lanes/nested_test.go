package lanes_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"example.com/subproduct/tenancy/lanes"
)

// ask has a request that holds a connection ask for a second one, and give both
// back.
func ask(t *testing.T, l *lanes.Lanes) *lanes.Holder {
	t.Helper()
	by := new(lanes.Holder)
	first := acquireFor(t, l, "asks", by)
	acquireFor(t, l, "asks", by).Release()
	first.Release()
	return by
}

// Nothing is kept back until somebody asks for a second connection. Then one is,
// for those who hold one.
func TestLanes_OneIsKeptForSecondConnections(t *testing.T) {
	t.Parallel()
	l := newLanes(t, 8)
	takeAll := func(want int) []*lanes.Conn {
		var all []*lanes.Conn
		for i := range want {
			all = append(all, acquire(t, l, fmt.Sprint("t", i)))
		}
		refused(t, l, "late")
		return all
	}
	for _, c := range takeAll(8) {
		c.Release()
	}
	over := ask(t, l)
	var by lanes.Holder
	first := acquireFor(t, l, "t7", &by)
	all := append(takeAll(6), first)
	for range 4 {
		second := acquireFor(t, l, "t7", &by) // is the last
		refused(t, l, "late")
		second.Release()
		refusedFor(t, l, "late", over)
	}
	all[0].Release()
	acquire(t, l, "late").Release()
	for _, c := range all[1:] {
		c.Release()
	}
}

// The one that is kept is had at once, though the home lane has none.
func TestLanes_TheKeptOneIsHadInAnyLane(t *testing.T) {
	t.Parallel()
	l := newLanes(t, 4)
	by := ask(t, l)
	first := acquireFor(t, l, "asks", by) // of one lane; the two below are the other
	other, passing := acquire(t, l, "other"), acquire(t, l, "other")
	soonest := time.Hour
	for range 10 {
		began := time.Now()
		second := acquireFor(t, l, "asks", by)
		soonest = min(soonest, time.Since(began))
		second.Release()
		passing.Release()
		passing = acquire(t, l, "other")
	}
	if soonest >= 5*time.Millisecond {
		t.Errorf("it took %v or longer, want no moment of waiting", soonest)
	}
	for _, c := range []*lanes.Conn{first, other, passing} {
		c.Release()
	}
}

// A tenant that holds its share has another of second connections, and no more.
func TestLanes_ATenantHasAShareOfSecondConnections(t *testing.T) {
	t.Parallel()
	l := newLanes(t, 8)
	var by lanes.Holder
	held := []*lanes.Conn{acquireFor(t, l, "stuck", nil), acquireFor(t, l, "stuck", &by)}
	for range 2 {
		held = append(held, acquireFor(t, l, "stuck", &by))
	}
	refused(t, l, "stuck")
	refusedFor(t, l, "stuck", &by)
	for i := range 100 {
		acquire(t, l, fmt.Sprint("other", i)).Release()
	}
	for _, c := range held {
		c.Release()
	}
}

// Who waits for a first connection is served in turn, and also while others take
// second ones all the time.
func TestLanes_SecondConnectionsStarveNobody(t *testing.T) {
	t.Parallel()
	l := newLanes(t, 4)
	ask(t, l)
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for i := range 8 {
		busy.Go(func() {
			for ctx.Err() == nil {
				var by lanes.Holder
				first := acquireFor(t, l, fmt.Sprint("busy", i), &by)
				for range 5 {
					acquireFor(t, l, fmt.Sprint("busy", i), &by).Release()
				}
				first.Release()
			}
		})
	}
	var slowest time.Duration
	for i := range 100 {
		began := time.Now()
		acquire(t, l, fmt.Sprint("other", i)).Release()
		slowest = max(slowest, time.Since(began))
	}
	stop()
	busy.Wait()
	if slowest > 2*time.Second {
		t.Errorf("one waited %v", slowest)
	}
}
