package tenancy

import (
	"context"
	"fmt"
)

// ForTenant returns a context on which InTx works for the tenant with this slug:
// for a public page or a command that names its tenant. Whose data anybody may
// see by that is the caller's to decide. It returns ErrUnknownTenant, also for a
// text that is no slug, which says then what is wrong with it, or
// ErrTenantCancelled. It costs one round trip.
func (db *DB) ForTenant(ctx context.Context, slug string) (context.Context, error) {
	parsed, err := ParseSlug(slug)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknownTenant, err)
	}
	t, err := db.Tenant(ctx, parsed)
	if err == nil && t.Status != Active {
		err = fmt.Errorf("%s: %w", parsed, ErrTenantCancelled)
	}
	if err != nil {
		return nil, err
	}
	return WithTenant(ctx, t), nil
}
