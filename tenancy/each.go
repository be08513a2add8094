package tenancy

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// eachPage is how many tenants EachTenant reads at once.
const eachPage = 500

// EachTenant calls fn once for every active tenant, one after the other by
// slug, with a context on which InTx works for that tenant. An error of fn is
// joined, with the slug, to what EachTenant returns and stops nobody else; the
// end of ctx does stop it. A tenant that is made meanwhile may be left out.
func (db *DB) EachTenant(ctx context.Context, fn func(ctx context.Context) error) error {
	var all []error
	for after := ""; ; {
		page, err := db.activeAfter(ctx, after)
		if err != nil || len(page) == 0 {
			return errors.Join(append(all, err)...)
		}
		for _, t := range page {
			if ctx.Err() != nil {
				return errors.Join(append(all, ctx.Err())...)
			}
			if err := fn(WithTenant(ctx, t)); err != nil {
				all = append(all, fmt.Errorf("tenant %s: %w", t.Slug, err))
			}
		}
		after = page[len(page)-1].Slug.s
	}
}

func (db *DB) activeAfter(ctx context.Context, after string) ([]Tenant, error) {
	rows, err := db.pool.Query(ctx, `
		SELECT `+tenantColumns+` FROM public.tenants
		WHERE status = 'active' AND slug > $1 ORDER BY slug LIMIT $2`, after, eachPage)
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Tenant, err error) {
		err = row.Scan(t.targets()...)
		return t, err
	})
}
