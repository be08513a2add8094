package tenancy

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A role for each tenant is a second wall behind the search_path: with
// Options.TenantRoles every tenant's requests run under a role that may use its
// schema and no other, so that even SELECT * FROM tenant_other.notes, written
// by hand or slipped in, is refused by PostgreSQL (42501), and so are the
// sessions and the registry in public.
//
// It does not stop a statement that says RESET ROLE, or SET ROLE to another
// tenant's: the connection's own user may do both. Tables that a product shares
// among tenants in public have to be granted by hand.
//
// It is off unless asked for. Steady, it costs some 0.05 ms a request. But up
// to PostgreSQL 15 every connection works out its user's memberships anew after
// any role was made, in the square of their number: 5 ms at 1,000 tenants, half
// a second at 10,000, per connection and provisioned tenant.

// takeRole is what beginTenant's message ends with.
func (db *DB) takeRole(t Tenant) string {
	if !db.options.TenantRoles || t.Role == "" {
		return ""
	}
	return "; SET LOCAL ROLE " + pgx.Identifier{t.Role}.Sanitize()
}

// lacksRole reports whether the tenant is to have a role, and has none yet.
func (db *DB) lacksRole(t Tenant) bool {
	return db.options.TenantRoles && t.Role == "" && !db.noRoles.Load()
}

// makeRole makes the tenant's role where that is wanted, grants it what is in
// the schema by now, and returns its name as an SQL literal, NULL for none. A
// database user who may not make roles gets none, with a warning.
func (db *DB) makeRole(d *txDriver) (literal string, err error) {
	if !db.options.TenantRoles || d.citus {
		return "NULL", nil
	}
	var database uint32
	var may bool
	err = d.tx.QueryRow(d.ctx, `
		SELECT d.oid, r.rolsuper OR r.rolcreaterole FROM pg_database d, pg_roles r
		WHERE d.datname = current_database() AND r.rolname = current_user`).Scan(&database, &may)
	if err != nil {
		return "", err
	}
	if !may {
		db.warnNoRoles(d.ctx)
		return "NULL", nil
	}
	name := roleName(d.slug, database)
	_, err = d.tx.Exec(d.ctx, grants(name, d.slug))
	return "'" + name + "'", err
}

func (db *DB) warnNoRoles(ctx context.Context) {
	if !db.noRoles.Swap(true) {
		db.log.WarnContext(ctx, "TENANT_ROLES is on, but the database user may not make roles: give it CREATEROLE, or turn the setting off")
	}
}

// roleName is unique in the cluster, which roles belong to, not to a database;
// a slug that would not fit is hashed.
func roleName(slug Slug, database uint32) string {
	name := fmt.Sprintf("tenant_%s@%d", slug.s, database)
	if len(name) <= 63 {
		return name
	}
	sum := sha256.Sum256([]byte(slug.s))
	return fmt.Sprintf("tenant_%x@%d", sum[:16], database)
}

// grants is repeated after every migration: it covers the tables of then.
func grants(role string, slug Slug) string {
	return fmt.Sprintf(`
		DO $$ BEGIN
			IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%[1]s') THEN CREATE ROLE %[2]s NOLOGIN; END IF;
			IF NOT pg_has_role(current_user, '%[1]s', 'MEMBER') OR NOT EXISTS (
				SELECT FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid JOIN pg_roles u ON u.oid = m.member
				WHERE r.rolname = '%[1]s' AND u.rolname = current_user) THEN GRANT %[2]s TO CURRENT_USER; END IF;
		END $$;
		GRANT USAGE ON SCHEMA %[3]s TO %[2]s;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %[3]s TO %[2]s;
		GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA %[3]s TO %[2]s;
		REVOKE ALL ON %[3]s.schema_migrations FROM %[2]s`,
		role, pgx.Identifier{role}.Sanitize(), slug.ident())
}
