package tenancy

import (
	"context"
	"slices"
	"sync"
)

// gate lets one goroutine of this process at a time work on a tenant's events,
// the oldest event first, so that a hundred deliveries for one tenant wait here
// and not each on a database connection. Between processes the tenant's
// advisory lock decides.
type gate struct {
	mu      sync.Mutex
	waiting map[Slug][]*waiter // a tenant is here while somebody is in
}

type waiter struct {
	event int64
	in    chan struct{} // closed when it is its turn
}

// enter waits for the event's turn; leave must be called after a nil error.
func (g *gate) enter(ctx context.Context, slug Slug, event int64) (leave func(), err error) {
	leave = func() { g.next(slug) }
	w := g.join(slug, event)
	if w == nil {
		return leave, nil
	}
	select {
	case <-w.in:
		return leave, nil
	case <-ctx.Done():
		if !g.withdraw(slug, w) { // it had its turn that very moment
			leave()
		}
		return nil, ctx.Err()
	}
}

// join returns nil when nobody is in.
func (g *gate) join(slug Slug, event int64) *waiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting == nil {
		g.waiting = map[Slug][]*waiter{}
	}
	queue, occupied := g.waiting[slug]
	if !occupied {
		g.waiting[slug] = nil
		return nil
	}
	w := &waiter{event, make(chan struct{})}
	at := slices.IndexFunc(queue, func(o *waiter) bool { return o.event > event })
	if at < 0 {
		at = len(queue)
	}
	g.waiting[slug] = slices.Insert(queue, at, w)
	return w
}

// next lets in who waits for the oldest event.
func (g *gate) next(slug Slug) {
	g.mu.Lock()
	defer g.mu.Unlock()
	queue := g.waiting[slug]
	if len(queue) == 0 {
		delete(g.waiting, slug)
		return
	}
	close(queue[0].in)
	g.waiting[slug] = slices.Delete(queue, 0, 1)
}

// withdraw reports whether w was still waiting.
func (g *gate) withdraw(slug Slug, w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	queue := g.waiting[slug]
	at := slices.Index(queue, w)
	if at >= 0 {
		g.waiting[slug] = slices.Delete(queue, at, at+1)
	}
	return at >= 0
}
