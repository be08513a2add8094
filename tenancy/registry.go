package tenancy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Tenant is a row of the registry, public.tenants.
type Tenant struct {
	Slug          Slug
	Status        string // Active or Cancelled
	PlanType      string
	SchemaVersion int64
	CreatedAt     time.Time
	UpdatedAt     time.Time
	CancelledAt   *time.Time
	LastSignInAt  *time.Time
	MigrateError  string // why the last migration failed; empty when it did not
}

const tenantColumns = `slug, status, plan_type, schema_version, created_at, updated_at, cancelled_at, last_sign_in_at, coalesce(migrate_error, '')`

// Tenant returns one row of the registry, or ErrUnknownTenant.
func (db *DB) Tenant(ctx context.Context, slug Slug) (Tenant, error) {
	row := db.pool.QueryRow(ctx, `SELECT `+tenantColumns+` FROM public.tenants WHERE slug = $1`, slug.s)
	t, err := scanTenant(row)
	if errors.Is(err, pgx.ErrNoRows) {
		return Tenant{}, fmt.Errorf("%s: %w", slug, ErrUnknownTenant)
	}
	return t, err
}

func scanTenant(row pgx.Row) (Tenant, error) {
	var t Tenant
	err := row.Scan(&t.Slug.s, &t.Status, &t.PlanType, &t.SchemaVersion,
		&t.CreatedAt, &t.UpdatedAt, &t.CancelledAt, &t.LastSignInAt, &t.MigrateError)
	return t, err
}
