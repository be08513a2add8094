package lanes_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"example.com/subproduct/tenancy/lanes"
)

// All connections are held, and all who hold one ask for a second, the first that
// ever do: they finish, and so does who comes then.
func TestLanes_TheFirstWhoAskForASecondFinish(t *testing.T) {
	t.Parallel()
	for _, conns := range []int{1, 2, 6} {
		l := newLanes(t, conns)
		holders, firsts := make([]lanes.Holder, conns), make([]*lanes.Conn, conns)
		for i := range conns {
			firsts[i] = acquireFor(t, l, fmt.Sprint("t", i), &holders[i])
		}
		var done sync.WaitGroup
		for i := range conns {
			done.Go(func() {
				defer firsts[i].Release()
				for range 3 {
					acquireFor(t, l, fmt.Sprint("t", i), &holders[i]).Release()
				}
			})
		}
		done.Wait()
		acquire(t, l, "then").Release()
	}
}

// A request that holds the only connection, and asks for two more at once, has
// one after the other.
func TestLanes_TheSpareOneServesOneAfterTheOther(t *testing.T) {
	t.Parallel()
	l := newLanes(t, 1)
	var by lanes.Holder
	first := acquireFor(t, l, "a", &by)
	defer first.Release()
	second := acquireFor(t, l, "a", &by)
	var third sync.WaitGroup
	third.Go(func() { acquireFor(t, l, "a", &by).Release() })
	for l.Waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	second.Release()
	third.Wait()
}
