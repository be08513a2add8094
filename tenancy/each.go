package tenancy

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"
)

// EachTenant calls fn once for every active tenant, one after the other by
// slug, with a context on which InTx works for that tenant. An error of fn is
// joined, with the slug, to what EachTenant returns and stops nobody else; the
// end of ctx does stop it. A tenant that is made meanwhile may be left out. One
// that is cancelled or purged meanwhile is left out: that is no error.
func (db *DB) EachTenant(ctx context.Context, fn func(ctx context.Context) error) error {
	var all []error
	for t, err := range db.tenantsWith(ctx, `status = $1`, Active) {
		if err != nil {
			return errors.Join(append(all, err)...)
		}
		if err := fn(WithTenant(ctx, t)); err != nil && !db.left(ctx, t, err) {
			all = append(all, fmt.Errorf("tenant %s: %w", t.Slug, err))
		}
	}
	return errors.Join(all...)
}

// left reports whether err came of a tenant that is active no more, or whose slug
// is another's by now. It asks for that afresh: fn may have had the error of
// another tenant.
func (db *DB) left(ctx context.Context, t Tenant, err error) bool {
	if !isGone(err) && !errors.Is(err, ErrSchemaMissing) {
		return false
	}
	now, _, err := db.lookUp(ctx, t.Slug)
	return isGone(err) || err == nil && (now.Status != Active || !now.Is(t.ID))
}

func isGone(err error) bool {
	return errors.Is(err, ErrTenantCancelled) || errors.Is(err, ErrUnknownTenant)
}

// tenantsWith are the tenants for which the condition on $1 holds, by slug.
// The caller stops at an error, which is that of ctx where this has ended.
func (db *DB) tenantsWith(ctx context.Context, condition string, arg any) iter.Seq2[Tenant, error] {
	const page = 500
	return func(yield func(Tenant, error) bool) {
		for after := ""; ; {
			rows, _ := db.pool.Query(ctx, `
				SELECT `+tenantColumns+` FROM public.tenants
				WHERE `+condition+` AND slug > $2 ORDER BY slug LIMIT $3`, arg, after, page)
			tenants, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Tenant, err error) {
				err = row.Scan(t.targets()...)
				return t, err
			})
			if err != nil {
				yield(Tenant{}, fmt.Errorf("list tenants: %w", err))
				return
			}
			if len(tenants) == 0 {
				return
			}
			for _, t := range tenants {
				if !yield(t, ctx.Err()) {
					return
				}
			}
			after = tenants[len(tenants)-1].Slug.s
		}
	}
}
