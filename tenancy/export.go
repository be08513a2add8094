package tenancy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// ErrNoPgDump says that the tool for an export is not installed here.
var ErrNoPgDump = errors.New("pg_dump is not installed: it comes with PostgreSQL's client (Debian: apt install postgresql-client), of the server's version or newer")

// Export writes one tenant's schema and data to w as pg_dump's SQL. It returns
// ErrUnknownTenant or ErrNoPgDump.
func (db *DB) Export(ctx context.Context, slug Slug, w io.Writer) error {
	if _, err := db.Tenant(ctx, slug); err != nil {
		return err
	}
	tool, err := exec.LookPath("pg_dump")
	if err != nil {
		return ErrNoPgDump
	}
	if err := db.auditExport(ctx, slug); err != nil {
		return err
	}
	var complaint strings.Builder
	dump := exec.CommandContext(ctx, tool, "--no-owner", "--no-privileges", "--schema="+pgDumpPattern(slug)) //nolint:gosec // the slug is validated
	dump.Env, dump.Stdout, dump.Stderr = db.libpqEnv(), w, &complaint
	if err := dump.Run(); err != nil {
		return fmt.Errorf("export tenant %s: %w: %s", slug, err, strings.TrimSpace(complaint.String()))
	}
	return nil
}

// auditExport records an export before anything of it is written. From a standby
// one is made all the same: it can only be logged.
func (db *DB) auditExport(ctx context.Context, slug Slug) error {
	err := db.Audit(ctx, AuditExport, slug, "")
	if sqlState(err) != codeReadOnly {
		return err
	}
	return db.told(ctx, nil, AuditExport, slug, "not recorded: the database is read-only")
}

// pgDumpPattern is the schema as pg_dump matches it: quoted, nothing in it is a
// wildcard.
func pgDumpPattern(slug Slug) string { return slug.ident() }

// security are the parameters of a connection that say how it is protected, as
// the URL and pgx spell them. libpq's variables have the same names.
var security = []string{
	"sslmode", "sslrootcert", "sslcert", "sslkey", "sslnegotiation", "sslsni", "ssl_min_protocol_version", "channel_binding", "require_auth",
}

// libpqEnv is the whole environment of a tool of PostgreSQL: the connection, as
// well protected as ours, and no secret of this program's but the password,
// which others could read on a command line.
func (db *DB) libpqEnv() []string {
	c := db.pool.Config().ConnConfig
	env := []string{
		"PGHOST=" + c.Host, "PGPORT=" + strconv.Itoa(int(c.Port)), "PGUSER=" + c.User, "PGPASSWORD=" + c.Password, "PGDATABASE=" + c.Database,
	}
	address, _ := url.Parse(db.options.URL) // pgx has parsed it
	for _, parameter := range security {
		name := "PG" + strings.ToUpper(strings.ReplaceAll(parameter, "_", ""))
		if value := cmp.Or(address.Query().Get(parameter), os.Getenv(name)); value != "" {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
