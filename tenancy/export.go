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

	"github.com/jackc/pgx/v5"
)

// ErrNoPgDump says that the tool for an export is not installed here.
var ErrNoPgDump = errors.New("pg_dump is not installed: it comes with PostgreSQL's client (Debian: apt install postgresql-client), of the server's version or newer")

// Export writes one tenant to w for Import: its registry row as a comment, then
// its schema and data as pg_dump's SQL, both from one snapshot. It returns
// ErrUnknownTenant, ErrPurging, ErrNoPgDump, or ErrBusy where the tenant is being
// migrated. An export that this program could not import again is made, with a
// warning in the log.
func (db *DB) Export(ctx context.Context, slug Slug, w io.Writer) error {
	tool, err := exec.LookPath("pg_dump")
	if err != nil {
		return ErrNoPgDump
	}
	err = db.transact(ctx, beginSnapshot, func(tx pgx.Tx) error {
		t, snapshot, err := db.snapshot(ctx, tx, slug)
		if err != nil {
			return err
		}
		if err := db.auditExport(ctx, slug); err != nil {
			return err
		}
		db.warnNewer(ctx, t)
		return writeExported(w, t, func() error { return db.dump(ctx, tool, slug, snapshot, w) })
	})
	if err != nil {
		return fmt.Errorf("export tenant %s: %w", slug, err)
	}
	return nil
}

// warnNewer warns of an export that importable would refuse.
func (db *DB) warnNewer(ctx context.Context, t Tenant) {
	if t.SchemaVersion > db.tenant.latest {
		db.log.WarnContext(ctx, "the tenant's schema is newer than this program, which cannot import this export again: keep the newer program with it",
			"tenant", t.Slug.String(), "version", t.SchemaVersion, "newest_known", db.tenant.latest)
	}
}

func (db *DB) dump(ctx context.Context, tool string, slug Slug, snapshot string, w io.Writer) error {
	var complaint strings.Builder
	// The schema is quoted: then nothing in it is a wildcard.
	dump := exec.CommandContext(ctx, tool, "--no-owner", "--no-privileges", "--snapshot="+snapshot, "--schema="+slug.ident()) //nolint:gosec // the slug is validated
	dump.Env, dump.Stdout, dump.Stderr = db.libpqEnv(), w, &complaint
	if err := dump.Run(); err != nil {
		return fmt.Errorf("pg_dump: %w: %s", err, strings.TrimSpace(complaint.String()))
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

// passedOn are the parameters of a connection that say how it is protected, and
// which of several servers is meant, as the URL and pgx spell them. libpq's
// variables have the same names.
var passedOn = []string{
	"target_session_attrs",
	"sslmode", "sslrootcert", "sslcert", "sslkey", "sslnegotiation", "sslsni", "ssl_min_protocol_version", "channel_binding", "require_auth",
}

// libpqEnv is the whole environment of a tool of PostgreSQL: the connection, as
// well protected as ours, and no secret of this program's but the password,
// which others could read on a command line.
func (db *DB) libpqEnv() []string {
	c := db.pool.Config().ConnConfig
	hosts, ports := addresses(c)
	env := []string{
		"PGHOST=" + hosts, "PGPORT=" + ports, "PGUSER=" + c.User, "PGPASSWORD=" + c.Password, "PGDATABASE=" + c.Database,
	}
	address, _ := url.Parse(db.options.URL) // pgx has parsed it
	for _, parameter := range passedOn {
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

// addresses are the servers that the URL names, with commas between them. pgx
// has each of them twice where TLS is tried and may be missing.
func addresses(c *pgx.ConnConfig) (hosts, ports string) {
	hosts, ports = c.Host, strconv.Itoa(int(c.Port))
	lastHost, lastPort := c.Host, c.Port
	for _, f := range c.Fallbacks {
		if f.Host != lastHost || f.Port != lastPort {
			hosts, ports = hosts+","+f.Host, ports+","+strconv.Itoa(int(f.Port))
		}
		lastHost, lastPort = f.Host, f.Port
	}
	return hosts, ports
}
