package tenancy

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Tenant is a row of the registry, public.tenants; in JSON its fields have the
// columns' names.
type Tenant struct {
	ID            int64      `json:"-"` // another once the slug is given again; 0: not known
	Slug          Slug       `json:"slug"`
	Status        string     `json:"status"` // Active or Cancelled
	PlanType      string     `json:"plan_type"`
	SchemaVersion int64      `json:"schema_version"`
	SizeBytes     int64      `json:"size_bytes"` // of the schema; of Tenants alone
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     time.Time  `json:"updated_at"`
	CancelledAt   *time.Time `json:"cancelled_at"`
	LastSignInAt  *time.Time `json:"last_sign_in_at"`
	PurgingSince  *time.Time `json:"purging_since"`
	MigrateError  *string    `json:"migrate_error"` // why the last migration failed; nil when it did not
}

const tenantColumns = `id, slug, status, plan_type, schema_version, created_at, updated_at, cancelled_at, last_sign_in_at,
	purging_since, migrate_error`

// Tenant returns one row of the registry, or ErrUnknownTenant.
func (db *DB) Tenant(ctx context.Context, slug Slug) (Tenant, error) {
	t, _, err := db.lookUp(ctx, slug)
	return t, err
}

// Tenants lists the registry by slug, or the one tenant only, with the size of
// each schema in bytes: tables, indexes and what is stored out of line.
func (db *DB) Tenants(ctx context.Context, only Slug) ([]Tenant, error) {
	rows, _ := db.pool.Query(ctx, `
		SELECT `+tenantColumns+`, coalesce(s.size, 0)
		FROM public.tenants LEFT JOIN (
			SELECT n.nspname, sum(pg_total_relation_size(c.oid))::bigint AS size
			FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname LIKE 'tenant\_%' AND c.relkind IN ('r', 'm') AND ($1 = '' OR n.nspname = 'tenant_' || $1)
			GROUP BY n.nspname) s ON s.nspname = 'tenant_' || slug
		WHERE $1 = '' OR slug = $1
		ORDER BY slug`, only.s)
	tenants, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Tenant, err error) {
		err = row.Scan(append(t.targets(), &t.SizeBytes)...)
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", err)
	}
	return tenants, nil
}

// Is reports whether it is the tenant of that id, which is 0 where it is not known:
// the slug may have been given again.
func (t Tenant) Is(id int64) bool { return id == 0 || id == t.ID }

// targets are where a row of tenantColumns goes.
func (t *Tenant) targets() []any {
	return []any{&t.ID, &t.Slug.s, &t.Status, &t.PlanType, &t.SchemaVersion,
		&t.CreatedAt, &t.UpdatedAt, &t.CancelledAt, &t.LastSignInAt, &t.PurgingSince, &t.MigrateError}
}

// Versions counts the tenants at each schema version, or the one tenant only, and
// names those whose last migration failed. It changes nothing; a database that
// was never migrated has none.
func (db *DB) Versions(ctx context.Context, only Slug) (versions map[int64]int, failed []TenantFailure, err error) {
	versions, failed = map[int64]int{}, []TenantFailure{}
	var version, n int64
	rows, _ := db.pool.Query(ctx, `SELECT schema_version, count(*) FROM public.tenants WHERE $1 = '' OR slug = $1 GROUP BY schema_version`, only.s)
	_, err = pgx.ForEachRow(rows, []any{&version, &n}, func() error { versions[version] = int(n); return nil })
	if sqlState(err) == codeMissingTable {
		return versions, failed, nil
	}
	if err == nil {
		rows, _ = db.pool.Query(ctx, `SELECT slug, migrate_error FROM public.tenants WHERE migrate_error IS NOT NULL AND ($1 = '' OR slug = $1) ORDER BY slug`, only.s)
		failed, err = pgx.CollectRows(rows, pgx.RowToStructByPos[TenantFailure])
	}
	if err != nil {
		return nil, nil, fmt.Errorf("schema versions: %w", err)
	}
	return versions, failed, nil
}

// LatestVersion is the version that this program brings a tenant's schema to.
func (db *DB) LatestVersion() int64 { return db.tenant.latest }
