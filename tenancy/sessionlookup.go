package tenancy

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// lookup is one request's session, and what was found.
type lookup struct {
	hash   [sha256.Size]byte
	leads  bool // the statement was traced and counted as this request's
	data   []byte
	tenant Tenant
	found  bool
}

const (
	lookupsAtOnce = 2   // statements
	mostLookups   = 100 // in one of them
)

// FindSession returns the data of a live session and its tenant, in one round
// trip. found is false for a token that is unknown, expired or of a tenant that
// is not active: a cancellation needs no other check anywhere.
//
// Every signed-in request asks, so those that come while the connections for it
// are busy are asked for together, in the next statement. Nothing is kept: each
// is read after its request came, and an answer is never older than that.
func (db *DB) FindSession(ctx context.Context, token string) (data []byte, tenant Tenant, found bool, err error) {
	began := time.Now()
	l := &lookup{hash: sha256.Sum256([]byte(token))}
	if err := db.lookups.Do(ctx, l); err != nil {
		return nil, Tenant{}, false, fmt.Errorf("find session: %w", err)
	}
	if !l.leads {
		CountShared(ctx, began)
	}
	return l.data, l.tenant, l.found, nil
}

// findSessionsSQL visits a session and its tenant by their keys: LIMIT keeps the
// planner from any other way. It does not see how many there are in (SELECT $1):
// it would plan the statement anew each time, for one with fewer looks cheaper.
const findSessionsSQL = `
	SELECT wanted.i, s.data, coalesce(t.id, 0), coalesce(t.slug, ''), coalesce(t.plan_type, ''), coalesce(t.schema_version, 0)
	FROM unnest((SELECT $1::bytea[])) WITH ORDINALITY AS wanted (hash, i)
	CROSS JOIN LATERAL (
		SELECT data, tenant_slug FROM public.sessions WHERE token_hash = wanted.hash AND expires_at > now() LIMIT 1) s
	LEFT JOIN LATERAL (
		SELECT id, slug, plan_type, schema_version FROM public.tenants WHERE slug = s.tenant_slug AND status = 'active' LIMIT 1) t ON true
	WHERE s.tenant_slug IS NULL OR t.slug IS NOT NULL`

func (db *DB) findSessions(ctx context.Context, batch []*lookup) error {
	hashes := make([][]byte, len(batch))
	for i, l := range batch {
		hashes[i] = l.hash[:]
	}
	batch[0].leads = true
	rows, _ := db.sessions.Query(ctx, findSessionsSQL, hashes)
	var i int
	var data []byte
	var t Tenant
	_, err := pgx.ForEachRow(rows, []any{&i, &data, &t.ID, &t.Slug.s, &t.PlanType, &t.SchemaVersion}, func() error {
		l := batch[i-1]
		l.data, l.tenant, l.found = data, t, true
		if !t.Slug.IsZero() {
			l.tenant.Status = Active
		}
		return nil
	})
	return err
}
