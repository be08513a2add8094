package tenancy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/jackc/pgx/v5"
)

const noTimeout = time.Duration(math.MaxInt64)

// txDriver is golang-migrate's view of one schema inside a transaction that
// its creator has opened and will close: it commits nothing, so a failure at
// any point leaves nothing. Its round trips are one for Lock and one a file.
type txDriver struct {
	ctx        context.Context
	tx         pgx.Tx
	migrations *migrations
	slug       Slug      // zero: public
	create     bool      // the schema may be missing
	citus      bool      // place the schema as a shard, and send one statement a message
	version    int64     // where the schema is; 0: nowhere yet
	ran        chan bool // told after each file whether it went well
}

var _ database.Driver = (*txDriver)(nil)

// Lock makes the version table where it is missing, and the schema where that is
// wanted, sets the search_path (contract, tenant schema rules 1 and 2) and reads
// the version, in one message. The lock itself is the transaction's.
func (d *txDriver) Lock() error {
	results, err := d.tx.Conn().PgConn().Exec(d.ctx, d.prologue()).ReadAll()
	if err != nil {
		return fmt.Errorf("prepare schema: %w", err)
	}
	rows := results[len(results)-1].Rows
	if len(rows) == 0 {
		return nil
	}
	d.version, err = strconv.ParseInt(string(rows[0][0]), 10, 64)
	return err
}

func (d *txDriver) prologue() string {
	create, path := "", "public, pg_temp"
	if !d.slug.IsZero() {
		path = d.slug.ident() + ", public, pg_temp"
	}
	if d.create {
		create = "CREATE SCHEMA IF NOT EXISTS " + d.slug.ident() + "; "
	}
	if d.citus {
		create = shardSchema + create
	}
	return create + "SET LOCAL search_path TO " + path + "; " +
		"CREATE TABLE IF NOT EXISTS " + d.versions() + " (version bigint NOT NULL PRIMARY KEY, dirty boolean NOT NULL); " +
		"SELECT version FROM " + d.versions() + " ORDER BY version DESC LIMIT 1"
}

// Unlock does nothing: the transaction's end unlocks.
func (d *txDriver) Unlock() error { return nil }

// Version returns errAhead for a schema that is newer than the files: there is
// nothing to run then.
func (d *txDriver) Version() (int, bool, error) {
	switch {
	case d.version == 0:
		return database.NilVersion, false, nil
	case d.version > d.migrations.latest:
		return 0, false, errAhead
	}
	return int(d.version), false, nil
}

// SetVersion only remembers: dirty has no meaning where all or nothing runs,
// and versionRow writes the last one.
func (d *txDriver) SetVersion(version int, dirty bool) error {
	d.version = int64(version)
	if !dirty {
		d.ran <- true
	}
	return nil
}

// Run sends a whole file as one message; on Citus, statement by statement.
func (d *txDriver) Run(migration io.Reader) (err error) {
	defer func() {
		if err != nil {
			d.ran <- false
		}
	}()
	sql, err := io.ReadAll(migration)
	if err != nil {
		return err
	}
	messages := []string{string(sql)}
	if d.citus {
		messages = splitSQL(string(sql))
	}
	for _, message := range messages {
		if _, err := d.tx.Conn().PgConn().Exec(d.ctx, message).ReadAll(); err != nil {
			line := errorLine(message, err)
			if line > 0 {
				line += strings.Count(string(sql[:strings.Index(string(sql), message)]), "\n")
			}
			return &MigrationError{File: d.migrations.files[d.version].name, Line: line, Err: err}
		}
	}
	return nil
}

// versions is the version table, as an SQL name.
func (d *txDriver) versions() string {
	return cmp.Or(d.migrations.versions, d.slug.ident()+".schema_migrations")
}

// versionRow is the SQL that records the version, as golang-migrate keeps it.
func (d *txDriver) versionRow() string {
	return fmt.Sprintf("DELETE FROM %[1]s; INSERT INTO %[1]s (version, dirty) VALUES (%[2]d, false)", d.versions(), d.version)
}

var errNotOffered = errors.New("not offered: tenants are dropped by purge alone")

func (d *txDriver) Open(string) (database.Driver, error) { return nil, errNotOffered }
func (d *txDriver) Drop() error                          { return errNotOffered }
func (d *txDriver) Close() error                         { return nil }

// MigrationError says which file failed, where and why.
type MigrationError struct {
	File string
	Line int // 0: not known
	Err  error
}

func (e *MigrationError) Error() string {
	where := e.File
	if e.Line > 0 {
		where += ":" + strconv.Itoa(e.Line)
	}
	return where + ": " + e.Err.Error()
}

func (e *MigrationError) Unwrap() error { return e.Err }

// errorLine is the line that PostgreSQL's error points at; 0 if it does not.
func errorLine(sql string, err error) int {
	position := int(serverError(err).Position)
	if position < 1 {
		return 0
	}
	runes := []rune(sql)
	return 1 + strings.Count(string(runes[:min(position-1, len(runes))]), "\n")
}
