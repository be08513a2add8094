//go:build !production

package dev

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// undo takes each tenant back to before the migrations that have changed, with the
// down files, the newest first; all of a tenant's or none.
func (d *stack) undo(ctx context.Context, conn *pgx.Conn, changed []string) error {
	downs, err := d.downs(changed)
	if err != nil {
		return err
	}
	first := number(changed[0])
	rows, _ := conn.Query(ctx, `SELECT slug, schema_version FROM public.tenants WHERE schema_version >= $1 ORDER BY slug`, first)
	tenants, err := pgx.CollectRows(rows, pgx.RowToStructByPos[tenantAt])
	if err != nil {
		return err
	}
	for _, t := range tenants {
		if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return t.back(ctx, tx, first, downs) }); err != nil {
			return fmt.Errorf("undo for %s, which is as it was: %w", t.Slug, err)
		}
		fmt.Fprintf(d.out, "Undone for %s: %s\n", t.Slug, strings.Join(changed, ", "))
	}
	return nil
}

// downs are the down files of the tenants' migrations, by their number; empty:
// it is missing. Those that changed are among them.
func (d *stack) downs(changed []string) (map[int64]string, error) {
	downs := map[int64]string{}
	for _, file := range changed {
		if ofAllTenants(file) {
			return nil, fmt.Errorf("%s is of all tenants together, which --undo leaves alone: put it back, and the change into a new one with the next number; or throw the data away: dev --reset", file)
		}
		downs[number(file)] = ""
	}
	names, err := fs.Glob(d.product.TenantSchema, "*.sql")
	for _, name := range names {
		if down := strings.Replace(name, ".up.sql", ".down.sql", 1); downs[number(name)] == "" {
			content, _ := fs.ReadFile(d.product.TenantSchema, down)
			downs[number(name)] = string(content)
		}
	}
	return downs, err
}

// ofAllTenants says of a migration that it has made what all tenants share.
func ofAllTenants(file string) bool { return path.Dir(file) == "schema/shared" }

type tenantAt struct {
	Slug    string
	Version int64
}

// back runs the down files from the tenant's version to the first that changed.
func (t tenantAt) back(ctx context.Context, tx pgx.Tx, first int64, downs map[int64]string) error {
	if _, err := tx.Exec(ctx, `SELECT set_config('search_path', $1, true)`, pgx.Identifier{"tenant_" + t.Slug}.Sanitize()+", public"); err != nil {
		return err
	}
	before := int64(0)
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(downs))) {
		switch {
		case n > t.Version:
		case n < first:
			before = max(before, n)
		case downs[n] == "":
			return fmt.Errorf("schema/tenant/%06d_*.down.sql is not there, or empty", n)
		default:
			if _, err := tx.Exec(ctx, downs[n]); err != nil {
				return fmt.Errorf("schema/tenant/%06d_*.down.sql: %w", n, err)
			}
		}
	}
	if _, err := tx.Exec(ctx, `UPDATE schema_migrations SET version = $1`, before); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE public.tenants SET schema_version = $1 WHERE slug = $2`, before, t.Slug)
	return err
}
