package tenancy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// Errors of Import.
var (
	ErrTenantThere = errors.New("the tenant is there already: cancel and purge it first, if the export is to take its place")
	ErrNewerExport = errors.New("the export is newer than this program: import it with a program that knows its schema version")
	ErrNoPsql      = errors.New("psql is not installed: it comes with PostgreSQL's client (Debian: apt install postgresql-client), of the version that wrote the export or newer")
)

// Import brings back the tenant that Export wrote, under its own name and with
// its registry row, where that tenant is absent. psql runs the file, which may
// hold any statement: it is trusted as a migration is. It is one transaction,
// under the tenant's lock, and the operator's word about the tenant; on an error
// nothing of it has happened. A tenant that is behind this program is migrated
// afterwards: that alone may fail when the tenant is there already.
//
// It returns ErrNotExported, ErrCutOff, ErrNewerExport, ErrTenantThere, ErrBusy,
// ErrNoPsql, or what psql said.
func (db *DB) Import(ctx context.Context, r io.Reader) (Slug, error) {
	t, body, err := parseExported(r)
	slug := t.Slug
	if err != nil {
		return slug, err
	}
	if err = db.importable(ctx, slug, t.SchemaVersion); err == nil {
		err = db.bring(ctx, t, body)
	}
	if err != nil {
		return slug, fmt.Errorf("import tenant %s: %w", slug, err)
	}
	if t.SchemaVersion == db.tenant.latest {
		return slug, nil
	}
	if err := db.upgrade(ctx, slug); err != nil {
		return slug, fmt.Errorf("tenant %s is imported, and not migrated: %w", slug, errors.Join(err, db.noteFailure(ctx, slug, err)))
	}
	return slug, nil
}

// bring has psql run an export.
func (db *DB) bring(ctx context.Context, t Tenant, body *complete) error {
	slug := t.Slug
	err := db.psql(ctx, beforeImport(t), io.MultiReader(body, strings.NewReader(db.afterImport(ctx, slug))))
	switch {
	case body.err != nil: // psql may have failed on what it broke off
		return body.err
	case err != nil:
		return db.whyNot(ctx, slug, err)
	}
	if _, err := db.Tenant(ctx, slug); err != nil { // something in the file has kept psql from our COMMIT
		return fmt.Errorf("the file was run and did not bring it: %w", err)
	}
	return db.told(ctx, nil, AuditImport, slug, "")
}

func (db *DB) importable(ctx context.Context, slug Slug, version int64) error {
	if version > db.tenant.latest {
		return fmt.Errorf("%w: that is %d, this program's is %d", ErrNewerExport, version, db.tenant.latest)
	}
	_, err := db.Tenant(ctx, slug)
	if errors.Is(err, ErrUnknownTenant) {
		return nil
	}
	if err == nil {
		err = ErrTenantThere
	}
	return err
}

// beforeImport is the SQL that psql begins with. The row comes first, that of two
// imports the second fails before it has read its file.
func beforeImport(t Tenant) string {
	row, _ := json.Marshal(t) // it was JSON
	const columns = `slug, status, plan_type, schema_version, created_at, updated_at, cancelled_at, last_sign_in_at`
	return beginLocked(t.Slug) + `; INSERT INTO public.tenants (` + columns + `)
		SELECT ` + columns + ` FROM json_populate_record(NULL::public.tenants, '` + quoted(string(row)) + `')`
}

// afterImport is the SQL that follows the file: the schema must be there, and
// the settings that pg_dump has made for the session end, for behind a pooler
// the next to use it may be anybody.
func (db *DB) afterImport(ctx context.Context, slug Slug) string {
	return fmt.Sprintf("\nSELECT '%s'::regnamespace;\n%s;\n%s;\n%s;\n", slug.ident(), commanded(slug), auditSQL(ctx, AuditImport, slug, ""), db.commit())
}

// psql runs SQL and then a script. The script's end must say COMMIT, which psql
// does not say by itself: it would also do so when this process is killed and
// the script ends early.
func (db *DB) psql(ctx context.Context, sql string, script io.Reader) error {
	tool, err := exec.LookPath("psql")
	if err != nil {
		return ErrNoPsql
	}
	var complaint strings.Builder
	run := exec.CommandContext(ctx, tool, "--no-psqlrc", "--no-password", "--quiet", "--set=ON_ERROR_STOP=1", "--command="+sql, "--file=-") //nolint:gosec // of a validated slug and a quoted row
	run.Env, run.Stdin, run.Stderr = db.libpqEnv(), script, &complaint
	if err := run.Run(); err != nil {
		return fmt.Errorf("psql: %w: %s", err, strings.TrimSpace(complaint.String()))
	}
	return nil
}

// whyNot says why psql failed where another import of the tenant is the cause.
func (db *DB) whyNot(ctx context.Context, slug Slug, err error) error {
	if _, there := db.Tenant(ctx, slug); there == nil {
		return errors.Join(ErrTenantThere, err)
	}
	if strings.Contains(err.Error(), "lock timeout") {
		return errors.Join(ErrBusy, err)
	}
	return err
}
