package tenancy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
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
	var complaint strings.Builder
	dump := exec.CommandContext(ctx, tool, "--no-owner", "--no-privileges", "--schema="+pgDumpPattern(slug)) //nolint:gosec // the slug is validated
	dump.Env, dump.Stdout, dump.Stderr = libpqEnv(db.pool.Config().ConnConfig), w, &complaint
	if err := dump.Run(); err != nil {
		return fmt.Errorf("export tenant %s: %w: %s", slug, err, strings.TrimSpace(complaint.String()))
	}
	return nil
}

// pgDumpPattern is the schema as pg_dump matches it: quoted, nothing in it is a
// wildcard.
func pgDumpPattern(slug Slug) string { return slug.ident() }

// libpqEnv hands the connection to a tool of PostgreSQL; on its command line a
// password could be read by others.
func libpqEnv(c *pgx.ConnConfig) []string {
	mode := "disable"
	if c.TLSConfig != nil {
		mode = "require"
	}
	return append(os.Environ(),
		"PGHOST="+c.Host, "PGPORT="+strconv.Itoa(int(c.Port)), "PGUSER="+c.User, "PGPASSWORD="+c.Password,
		"PGDATABASE="+c.Database, "PGSSLMODE="+mode)
}
