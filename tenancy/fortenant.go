package tenancy

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ForTenant returns a context on which InTx works for the tenant with this slug:
// for a public page or a command that names its tenant. Whose data anybody may
// see by that is the caller's to decide. It returns ErrUnknownTenant, also for a
// text that is no slug, which is ErrBadSlug too, or ErrTenantCancelled. It costs
// one round trip.
func (db *DB) ForTenant(ctx context.Context, slug string) (context.Context, error) {
	parsed, err := ParseSlug(slug)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknownTenant, err)
	}
	tenant, _, err := db.lookUp(ctx, parsed)
	if err != nil {
		return nil, err
	}
	return active(ctx, tenant)
}

// active is ctx with the tenant, if that may be served.
func active(ctx context.Context, t Tenant) (context.Context, error) {
	ctx = WithTenant(ctx, t)
	if _, err := TenantFrom(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Slug, err)
	}
	return ctx, nil
}

// lookUp is a tenant, whatever its status, with the key of its links. The key
// goes with the tenant: one that is purged and made again has another. Requests
// ask, so it waits for no migration.
func (db *DB) lookUp(ctx context.Context, slug Slug) (t Tenant, key []byte, err error) {
	err = db.sessions.QueryRow(ctx, `SELECT `+tenantColumns+`, link_key FROM public.tenants WHERE slug = $1`, slug.s).
		Scan(append(t.targets(), &key)...)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrUnknownTenant
	}
	if err != nil {
		return Tenant{}, nil, fmt.Errorf("tenant %s: %w", slug, err)
	}
	return t, key, nil
}
