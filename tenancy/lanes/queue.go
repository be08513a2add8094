package lanes

import (
	"context"
	"slices"
	"time"
)

// enter returns the lane in which the tenant has a place now. leave gives it
// back.
func (l *Lanes) enter(ctx context.Context, name string, nested bool) (int, *tenant, error) {
	l.mu.Lock()
	t := l.met(name, nested)
	if n, ok := l.take(t, 0); ok {
		l.mu.Unlock()
		return n, t, nil
	}
	w := &waiter{tenant: t, since: time.Now(), granted: make(chan int, 1)}
	l.queue = append(l.queue, w)
	l.relieve()
	l.watch()
	l.mu.Unlock()
	select {
	case n := <-w.granted:
		return n, t, nil
	case <-ctx.Done():
		n, err := l.giveUp(ctx, w)
		return n, t, err
	}
}

// watch has look come every moment while anybody waits.
func (l *Lanes) watch() {
	if !l.watched {
		l.watched = true
		time.AfterFunc(moment, l.look)
	}
}

// look finds the lanes that are stuck, and serves those who borrow: a lane that
// is busy and moves on is worth the wait.
func (l *Lanes) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lane := range l.lanes {
		lane.stuck = lane.free == 0 && lane.seen == lane.moved
		lane.seen = lane.moved
	}
	l.serve()
	l.watched = false
	if len(l.queue) > 0 {
		l.watch()
	}
}

// giveUp leaves the queue. A place that was granted at that very instant is
// taken: the connection's own wait will see that ctx has ended.
func (l *Lanes) giveUp(ctx context.Context, w *waiter) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case n := <-w.granted:
		return n, nil
	default:
	}
	l.queue = slices.DeleteFunc(l.queue, func(other *waiter) bool { return other == w })
	return 0, ctx.Err()
}

// leave gives a place back, and to the next who may have it.
func (l *Lanes) leave(n int, t *tenant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(n, t, -1)
	l.serve()
	l.relieve()
}

// count has the tenant hold so many more of a lane.
func (l *Lanes) count(n int, t *tenant, more int) {
	t.held += more
	if t.nested() {
		l.nested += more
	}
	if n != spareLane {
		lane := l.lanes[n]
		lane.free -= more
		lane.moved++
		lane.stuck = lane.stuck && lane.free == 0
		l.free -= more
	}
}

// take gives the tenant, one of whose requests has waited so long, a place in its
// lane, or where that is stuck in the next that has one: the same each time, which
// so is warm too. A second connection borrows at once: its request holds up others.
// The queue is searched for those alone who have waited for a moment.
func (l *Lanes) take(t *tenant, waited time.Duration) (int, bool) {
	if t.held >= l.most || l.free <= l.kept(t) {
		return 0, false
	}
	borrows := t.nested() || l.lanes[t.home].stuck
	for i := range l.lanes {
		n := (t.home + i) % len(l.lanes)
		if l.lanes[n].free > 0 && (i == 0 || borrows || waited > moment && waited > moment+l.longest(n)) {
			l.count(n, t, 1)
			return n, true
		}
	}
	return 0, false
}

// longest is how long the first has waited for the lane whose tenant may have
// more.
func (l *Lanes) longest(n int) time.Duration {
	for _, w := range l.queue {
		if w.tenant.home == n && w.tenant.held < l.most {
			return time.Since(w.since)
		}
	}
	return 0
}

// kept is how many free connections are not for the tenant. With the last one for
// second connections alone, one is free, or one is held as a second and comes
// back.
func (l *Lanes) kept(t *tenant) int {
	if t.nested() || !l.nests || l.conns == 1 {
		return 0
	}
	return 1
}

// serve grants what is free to those who wait, first come first served.
func (l *Lanes) serve() {
	for i := 0; i < len(l.queue) && l.free > 0; {
		w := l.queue[i]
		n, ok := l.take(w.tenant, time.Since(w.since))
		if !ok {
			i++
			continue
		}
		l.queue = slices.Delete(l.queue, i, i+1)
		w.granted <- n
	}
}

// Waiting is how many wait for a connection now.
func (l *Lanes) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}
