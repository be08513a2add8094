package tenancy

import (
	"context"
	"errors"
)

// Errors that say why there is no tenant to work on. All are decided before
// any statement of a handler runs.
var (
	ErrNoTenant        = errors.New("no tenant in this context")
	ErrUnknownTenant   = errors.New("no such tenant")
	ErrTenantCancelled = errors.New("the tenant is cancelled")
	ErrSchemaMissing   = errors.New("the tenant's schema does not exist")
	ErrNotMigrated     = errors.New("the tenant's schema is behind and could not be migrated")
)

// Tenant statuses.
const (
	Active    = "active"
	Cancelled = "cancelled"
)

type tenantKey struct{}

// WithTenant returns a context whose InTx works on t's data. The session
// middleware calls it; a handler has no reason to: ForTenant and OpenLink are
// the other ways to a tenant.
func WithTenant(ctx context.Context, t Tenant) context.Context {
	return context.WithValue(ctx, tenantKey{}, t)
}

// TenantFrom returns the tenant that ctx is about: ErrNoTenant without one,
// ErrTenantCancelled for one that may not be served.
func TenantFrom(ctx context.Context) (Tenant, error) {
	t, ok := ctx.Value(tenantKey{}).(Tenant)
	switch {
	case !ok || t.Slug.IsZero():
		return Tenant{}, ErrNoTenant
	case t.Status != Active:
		return Tenant{}, ErrTenantCancelled
	}
	return t, nil
}
