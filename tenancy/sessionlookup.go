package tenancy

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"
)

// lookups find the sessions of requests. Every signed-in request asks for one,
// so those that come while the connections for it are busy are asked for
// together, in the next statement. Nothing is kept: each is read after its
// request came, and an answer is never older than that.
type lookups struct {
	db *DB

	mu      sync.Mutex
	waiting []*lookup
	busy    int // statements under way
}

// lookup is one request's session, and what was found.
type lookup struct {
	ctx    context.Context
	hash   [sha256.Size]byte
	leads  bool          // the statement was traced and counted as this request's
	done   chan struct{} // closed when what follows is set
	data   []byte
	tenant Tenant
	found  bool
	err    error
}

const (
	lookupsAtOnce = 2   // statements
	mostLookups   = 100 // in one of them
	// lookupTimeout is for requests without a deadline.
	lookupTimeout = 30 * time.Second
)

// find waits until ctx ends, and then returns its error; the statement goes on
// for the others.
func (l *lookups) find(ctx context.Context, token string) (*lookup, error) {
	began := time.Now()
	w := &lookup{ctx: ctx, hash: sha256.Sum256([]byte(token)), done: make(chan struct{})}
	l.mu.Lock()
	l.waiting = append(l.waiting, w)
	if l.busy < lookupsAtOnce {
		l.busy++
		go l.work()
	}
	l.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if u, _ := ctx.Value(usageKey{}).(*Usage); u != nil && !w.leads {
		u.statements.Add(1)
		u.database.Add(int64(time.Since(began)))
	}
	return w, w.err
}

func (l *lookups) work() {
	for batch := l.next(); batch != nil; batch = l.next() {
		err := recovered(func() error { return l.findAll(batch) })
		for _, w := range batch {
			w.err = err
			close(w.done)
		}
	}
}

// next are those who wait, in the order in which they came, but for who has
// left. nil: nobody, and the work is over.
func (l *lookups) next() (batch []*lookup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) > 0 && len(batch) < mostLookups {
		if w := l.waiting[0]; w.ctx.Err() == nil {
			batch = append(batch, w)
		}
		l.waiting = l.waiting[1:]
	}
	if batch == nil {
		l.busy--
	}
	return batch
}

// findSessionsSQL visits a session and its tenant by their keys: LIMIT keeps the
// planner from any other way.
const findSessionsSQL = `
	SELECT wanted.i, s.data, coalesce(t.slug, ''), coalesce(t.plan_type, ''), coalesce(t.schema_version, 0)
	FROM unnest($1::bytea[]) WITH ORDINALITY AS wanted (hash, i)
	CROSS JOIN LATERAL (
		SELECT data, tenant_slug FROM public.sessions WHERE token_hash = wanted.hash AND expires_at > now() LIMIT 1) s
	LEFT JOIN LATERAL (
		SELECT slug, plan_type, schema_version FROM public.tenants WHERE slug = s.tenant_slug AND status = 'active' LIMIT 1) t ON true
	WHERE s.tenant_slug IS NULL OR t.slug IS NOT NULL`

func (l *lookups) findAll(batch []*lookup) error {
	hashes, until := make([][]byte, len(batch)), time.Time{}
	for i, w := range batch {
		hashes[i] = w.hash[:]
		deadline, limited := w.ctx.Deadline()
		if !limited {
			deadline = time.Now().Add(lookupTimeout)
		}
		if deadline.After(until) {
			until = deadline
		}
	}
	batch[0].leads = true
	ctx, cancel := context.WithDeadline(context.WithoutCancel(batch[0].ctx), until)
	defer cancel()
	rows, err := l.db.sessions.Query(ctx, findSessionsSQL, hashes)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var i int
		var data []byte
		t := Tenant{Status: Active}
		if err := rows.Scan(&i, &data, &t.Slug.s, &t.PlanType, &t.SchemaVersion); err != nil {
			return err
		}
		if t.Slug.IsZero() {
			t = Tenant{}
		}
		w := batch[i-1]
		w.data, w.tenant, w.found = data, t, true
	}
	return rows.Err()
}
