package tenancy

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// SetPlan notes the plan that an event of the platform names, in a transaction
// of TryTenant. asOf is when the event was received: a plan that was heard of
// later, by another event or at a sign-in, stays. A tenant that is not here has
// no plan.
func (s *System) SetPlan(ctx context.Context, tx pgx.Tx, slug Slug, plan string, asOf time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE public.tenants SET plan_type = $2, plan_as_of = $3, updated_at = now()
		WHERE slug = $1 AND (plan_as_of IS NULL OR plan_as_of <= $3)`, slug.s, plan, asOf)
	if err != nil {
		return fmt.Errorf("tenant %s: set plan: %w", slug, err)
	}
	return nil
}

// SignedIn notes a sign-in: when it was, and the plan that the platform named
// when it was asked. A plan that an event has named since then stays. It returns
// ErrBusy as SaveSession does.
func (db *DB) SignedIn(ctx context.Context, slug Slug, plan string, asked time.Time) error {
	err := db.writeSession(ctx, slug, `
		UPDATE public.tenants t SET last_sign_in_at = now(), plan_as_of = greatest(t.plan_as_of, asked.at),
			plan_type = CASE WHEN t.plan_as_of > asked.at THEN t.plan_type ELSE $2 END,
			updated_at = CASE WHEN t.plan_as_of > asked.at OR t.plan_type = $2 THEN t.updated_at ELSE now() END
		FROM (SELECT now() - make_interval(secs => $3) AS at) asked
		WHERE t.slug = $1`, []any{slug.s, plan, secondsSince(asked)})
	if err != nil {
		return fmt.Errorf("note sign-in: %w", err)
	}
	return nil
}

// secondsSince is how long ago a time was when its statement is sent: this clock
// is not the database's, and the wait for a connection counts.
type secondsSince time.Time

func (t secondsSince) Value() (driver.Value, error) {
	return max(time.Since(time.Time(t)), 0).Seconds(), nil
}
