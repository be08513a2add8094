package tenancy

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// templateFiles are the template's own tables in public.
//
//go:embed schema/*.sql
var templateFiles embed.FS

// Version tables of the two sets of migrations in public: the template's and the
// product's never claim one number.
const (
	templateVersions = "public.template_migrations"
	sharedVersions   = "public.schema_migrations"
)

// ErrOldDatabase says that a database was made by a version of the template
// from which no migration leads here.
var ErrOldDatabase = errors.New("this database was made by an earlier version of the template, from which no migration leads here " +
	"(it has public.tenants and no public.template_migrations): use a new database; in development, `dev --reset`")

// MigrateShared brings the public schema to this program's version: the
// template's tables, then the product's. Nobody else may create in it then, as
// far as our login can see to that. Replicas that start together wait for
// each other. It returns ErrOldDatabase, a *MigrationError, or a *NameError.
func (db *DB) MigrateShared(ctx context.Context) error {
	err := db.transact(ctx, beginLocked(Slug{}), func(tx pgx.Tx) error {
		if err := refuseOldDatabase(ctx, tx); err != nil {
			return err
		}
		if err := db.closePublic(ctx, tx); err != nil {
			return err
		}
		if err := migratePublic(ctx, tx, db.template); err != nil {
			return err
		}
		return migratePublic(ctx, tx, db.shared)
	})
	if err != nil {
		return fmt.Errorf("shared schema: %w", err)
	}
	return db.checkNames(ctx)
}

func refuseOldDatabase(ctx context.Context, tx pgx.Tx) error {
	var old bool
	err := tx.QueryRow(ctx, `SELECT to_regclass('public.tenants') IS NOT NULL AND to_regclass($1) IS NULL`, templateVersions).Scan(&old)
	if err == nil && old {
		err = ErrOldDatabase
	}
	return err
}

func migratePublic(ctx context.Context, tx pgx.Tx, files *migrations) error {
	d := &txDriver{ctx: ctx, tx: tx, migrations: files}
	if err := files.up(d); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, d.versionRow())
	return err
}

// CheckShared returns a *BehindError when the public schema is behind this
// program, and changes nothing.
func (db *DB) CheckShared(ctx context.Context) error {
	for _, files := range []*migrations{db.template, db.shared} {
		if files.latest == 0 {
			continue
		}
		var version int64
		err := db.pool.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM `+files.versions).Scan(&version)
		if err != nil && sqlState(err) != codeMissingTable {
			return err
		}
		if version < files.latest {
			return &BehindError{Table: files.versions, Have: version, Want: files.latest}
		}
	}
	return db.checkNames(ctx)
}

// BehindError says that the shared schema must be migrated first.
type BehindError struct {
	Table      string // where the version is kept
	Have, Want int64
}

func (e *BehindError) Error() string {
	return fmt.Sprintf("the shared schema is at version %d (%s) and this program needs %d: run `migrate` first, or set MIGRATE_ON_START",
		e.Have, e.Table, e.Want)
}

// NameError says that tables of tenants have the names of tables in public. A
// tenant that has not been migrated yet would read and write everybody's rows
// by such a name.
type NameError struct{ Names []string }

func (e *NameError) Error() string {
	return "these names are in schema/tenant and in public, and may be in one of them alone: " + strings.Join(e.Names, ", ")
}

// checkNames compares the names of a tenant's schema, which is built in a
// transaction that is rolled back, with those in public. pg_depend has an index
// that finds a schema's objects among those of ten thousand tenants.
func (db *DB) checkNames(ctx context.Context) error {
	if db.tenant.latest == 0 {
		return nil
	}
	var both []string
	err := db.withReference(ctx, func(tx pgx.Tx) (err error) {
		rows, _ := tx.Query(ctx, `
			WITH names AS (
				SELECT n.oid AS schema, coalesce(c.relname, t.typname, p.proname) AS name
				FROM pg_namespace n
				JOIN pg_depend d ON d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid
				LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
				LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
				LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
				WHERE n.nspname IN ($1, 'public')
			)
			SELECT name FROM names WHERE name <> 'schema_migrations' GROUP BY name HAVING count(DISTINCT schema) = 2
			ORDER BY name`, referenceSlug.Schema())
		both, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	var broken *MigrationError
	if errors.As(err, &broken) {
		db.log.WarnContext(ctx, "a tenant's schema cannot be built", "error", err)
		return nil // each tenant that needs the file will fail, and no other
	}
	if err == nil && len(both) > 0 {
		err = &NameError{both}
	}
	return err
}
