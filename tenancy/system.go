package tenancy

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// System is the database to the template's own packages below this one, the
// inbox for example: single statements on public, each its own transaction, and
// transactions on a tenant. It gives out no connections. A product has no
// business with it.
type System struct {
	db   *DB
	pool *pgxpool.Pool
}

// System returns one on the connections of the requests.
func (db *DB) System() *System { return &System{db, db.pool} }

// NewSystem returns one with connections of its own, so that it goes on when
// the requests use up theirs. Close must be called.
func (db *DB) NewSystem(conns int) (*System, error) {
	pool, err := db.newPool(db.base, conns)
	if err != nil {
		return nil, err
	}
	return &System{db, pool}, nil
}

// Close closes the connections, and waits as long as DB.Close does.
func (s *System) Close() { closePool(s.pool) }

// Exec, Query and QueryRow send one statement, which names public in full.
func (s *System) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return s.pool.Exec(ctx, sql, args...)
}

func (s *System) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return s.pool.Query(ctx, sql, args...)
}

func (s *System) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return s.pool.QueryRow(ctx, sql, args...)
}

// SendBatch sends statements in one message, which is one transaction.
func (s *System) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	return s.pool.SendBatch(ctx, b)
}

// LatestVersion is DB.LatestVersion.
func (s *System) LatestVersion() int64 { return s.db.LatestVersion() }

// heldSetting is on for as long as a transaction of TryTenant lasts: Held reads
// it, so that a handler's own COMMIT is noticed.
const heldSetting = "tenancy.tenant_lock"

// Held is an SQL condition: the statement runs in the transaction that
// TryTenant has opened, and not in one that somebody has begun after it.
const Held = `current_setting('` + heldSetting + `', true) = 'on'`

// open are the statements that begin a transaction of TryTenant. It does not
// wait for the disk: what it does is done again after a crash of the server,
// from the row that says that it is to be done, and whatever is written later
// and does reach the disk has this before it.
var open = []string{
	`DISCARD TEMP`,
	`SELECT set_config('search_path', $1 || ', public, pg_temp', true), set_config('lock_timeout', '` + tableLockTimeout + `', true),
		set_config('idle_in_transaction_session_timeout', '` + idleTimeout + `', true), set_config('synchronous_commit', 'off', true)`,
	`SELECT set_config('` + heldSetting + `', CASE WHEN pg_try_advisory_xact_lock($1::int, hashtext($2)) THEN 'on' ELSE 'off' END, true)`,
}

// TryTenant runs fn in a transaction that holds the tenant's lock, with the
// search_path on its schema, or returns ErrBusy. It commits when fn returns
// nil, and rolls back on an error or a panic. first is a query whose one row is
// read by scan before fn runs: it travels with the transaction's beginning and
// sees what the lock's last holder has left. scan's error ends the transaction.
// A process that stops for idleTimeout between two statements loses it.
func (s *System) TryTenant(ctx context.Context, slug Slug, first string, args []any, scan func(pgx.Row) error, fn func(pgx.Tx) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer conn.Release()
	tx, err := s.begin(ctx, conn, slug, first, args, scan)
	if err != nil {
		s.db.abandon(ctx, conn, tx)
		return err
	}
	if b := backendOf(conn.Conn()); b != nil {
		b.meet(slug)
	}
	return s.db.within(ctx, conn, tx, fn)
}

// begin sends the beginning of a transaction of TryTenant in one message.
func (s *System) begin(ctx context.Context, conn *pgxpool.Conn, slug Slug, first string, args []any, scan func(pgx.Row) error) (pgx.Tx, error) {
	batch := &pgx.Batch{}
	batch.BeginTx(pgx.TxOptions{IsoLevel: pgx.ReadCommitted, CommitQuery: s.db.commit()})
	batch.Queue(open[0])
	batch.Queue(open[1], slug.ident())
	batch.Queue(open[2], LockKey, slug.s)
	batch.Queue(first, args...)
	results := conn.Conn().SendBatch(ctx, batch)
	tx := results.Tx()
	for range 3 {
		if _, err := results.Exec(); err != nil {
			return tx, errors.Join(fmt.Errorf("begin: %w", err), results.Close())
		}
	}
	var held string
	err := results.QueryRow().Scan(&held)
	if err == nil && held != "on" {
		err = ErrBusy
	}
	if err == nil {
		err = scan(results.QueryRow())
	}
	return tx, errors.Join(err, results.Close())
}

// Enter readies a transaction of TryTenant for a handler of the product: the
// tenant is there, and at this program's version where it may be migrated on
// use. A cancelled tenant's data is there too. It returns ErrUnknownTenant or
// ErrSchemaMissing.
func (s *System) Enter(ctx context.Context, tx pgx.Tx, slug Slug, version int64, schemaExists bool) error {
	switch {
	case version < 0:
		return fmt.Errorf("%s: %w", slug, ErrUnknownTenant)
	case !schemaExists:
		return fmt.Errorf("%s: %w", slug, ErrSchemaMissing)
	case version < s.db.tenant.latest && s.db.options.MigrateOnUse:
		_, err := s.db.upgradeTenant(ctx, tx, slug)
		return err
	}
	return nil
}

// Provision is DB.Provision in a transaction of TryTenant, but no operator's
// word. The search_path is on the tenant's schema afterwards.
func (s *System) Provision(ctx context.Context, tx pgx.Tx, slug Slug) error {
	_, err := s.db.provision(ctx, tx, slug, everyWord)
	return err
}

// Cancel is DB.Cancel in a transaction of TryTenant, but no operator's word. It
// returns ErrUnknownTenant.
func (s *System) Cancel(ctx context.Context, tx pgx.Tx, slug Slug) error {
	_, err := cancelTenant(ctx, tx, slug, everyWord)
	return err
}

// sweepBatch bounds one DELETE, and with it its locks and its WAL.
const sweepBatch = 1000

// DeleteBatches repeats a DELETE whose LIMIT is $1 until it finds less.
func (s *System) DeleteBatches(ctx context.Context, sql string, args ...any) error {
	for {
		deleted, err := s.pool.Exec(ctx, sql, append([]any{sweepBatch}, args...)...)
		if err != nil || deleted.RowsAffected() < sweepBatch {
			return err
		}
	}
}
