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
	PurgingSince  *time.Time
}

const tenantColumns = `slug, status, plan_type, schema_version, created_at, updated_at, cancelled_at, last_sign_in_at,
	coalesce(migrate_error, ''), purging_since`

// Tenant returns one row of the registry, or ErrUnknownTenant.
func (db *DB) Tenant(ctx context.Context, slug Slug) (Tenant, error) {
	var t Tenant
	err := db.pool.QueryRow(ctx, `SELECT `+tenantColumns+` FROM public.tenants WHERE slug = $1`, slug.s).Scan(t.targets()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return Tenant{}, fmt.Errorf("%s: %w", slug, ErrUnknownTenant)
	}
	return t, err
}

// Tenants lists the registry by slug, or the one tenant only, with the size of
// each schema in bytes: tables, indexes and what is stored out of line.
func (db *DB) Tenants(ctx context.Context, only Slug, each func(t Tenant, size int64) error) error {
	rows, err := db.pool.Query(ctx, `
		SELECT `+tenantColumns+`, coalesce(s.size, 0)
		FROM public.tenants LEFT JOIN (
			SELECT n.nspname, sum(pg_total_relation_size(c.oid))::bigint AS size
			FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname LIKE 'tenant\_%' AND c.relkind IN ('r', 'm') AND ($1 = '' OR n.nspname = 'tenant_' || $1)
			GROUP BY n.nspname) s ON s.nspname = 'tenant_' || slug
		WHERE $1 = '' OR slug = $1
		ORDER BY slug`, only.s)
	if err != nil {
		return fmt.Errorf("list tenants: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var t Tenant
		var size int64
		if err := rows.Scan(append(t.targets(), &size)...); err != nil {
			return fmt.Errorf("list tenants: %w", err)
		}
		if err := each(t, size); err != nil {
			return err
		}
	}
	return rows.Err()
}

// targets are where a row of tenantColumns goes.
func (t *Tenant) targets() []any {
	return []any{&t.Slug.s, &t.Status, &t.PlanType, &t.SchemaVersion,
		&t.CreatedAt, &t.UpdatedAt, &t.CancelledAt, &t.LastSignInAt, &t.MigrateError, &t.PurgingSince}
}

// Versions counts the tenants at each schema version, and names those whose
// last migration failed. It changes nothing; a database that was never
// migrated has none.
func (db *DB) Versions(ctx context.Context) (versions map[int64]int, failed []TenantFailure, err error) {
	versions, failed = map[int64]int{}, []TenantFailure{}
	var version, n int64
	rows, err := db.pool.Query(ctx, `SELECT schema_version, count(*) FROM public.tenants GROUP BY schema_version`)
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&version, &n}, func() error { versions[version] = int(n); return nil })
	}
	if sqlState(err) == codeMissingTable {
		return versions, failed, nil
	}
	var f TenantFailure
	if err == nil {
		rows, err = db.pool.Query(ctx, `SELECT slug, migrate_error FROM public.tenants WHERE migrate_error IS NOT NULL ORDER BY slug`)
	}
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&f.Slug, &f.Error}, func() error { failed = append(failed, f); return nil })
	}
	if err != nil {
		return nil, nil, fmt.Errorf("schema versions: %w", err)
	}
	return versions, failed, nil
}

// LatestVersion is the version that this program brings a tenant's schema to.
func (db *DB) LatestVersion() int64 { return db.tenant.latest }
