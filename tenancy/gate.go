package tenancy

import (
	"context"
	"sync"
)

// gate lets one goroutine of this process at a time work on a tenant's events,
// so that a hundred deliveries for one tenant wait here and not each on a
// database connection. Between processes the tenant's advisory lock decides.
type gate struct {
	mu      sync.Mutex
	waiting map[Slug]*turn
}

type turn struct {
	free  chan struct{} // holds a token while nobody is in
	users int
}

// enter waits for the tenant's turn; leave must be called after a nil error.
func (g *gate) enter(ctx context.Context, slug Slug) (leave func(), err error) {
	t := g.join(slug)
	select {
	case <-t.free:
		return func() { t.free <- struct{}{}; g.part(slug) }, nil
	case <-ctx.Done():
		g.part(slug)
		return nil, ctx.Err()
	}
}

func (g *gate) join(slug Slug) *turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting == nil {
		g.waiting = map[Slug]*turn{}
	}
	t := g.waiting[slug]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		g.waiting[slug] = t
	}
	t.users++
	return t
}

func (g *gate) part(slug Slug) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.waiting[slug]; t != nil {
		if t.users--; t.users == 0 {
			delete(g.waiting, slug)
		}
	}
}
