package tenancy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// rollbackTimeout bounds the one statement that must run although the request
// is over.
const rollbackTimeout = 5 * time.Second

// InTx runs fn in a transaction on the data of ctx's tenant: unqualified names
// are looked up in its schema, then in public. It commits when fn returns nil
// and returns the commit's error; it rolls back when fn returns an error or
// panics. tx is dead once fn has returned.
//
// fn may run a second time from the start, when the tenant's tables changed
// under a prepared statement (SQLSTATE 0A000): have it assign results, not
// append to what an earlier run left.
//
// InTx returns ErrNoTenant, ErrTenantCancelled, ErrNotMigrated or
// ErrSchemaMissing before fn runs; then no statement of fn has reached any
// table. A transaction that has begun before its tenant is cancelled may finish.
// It costs three round trips beside fn's own, of which none is before BEGIN.
func (db *DB) InTx(ctx context.Context, fn func(tx pgx.Tx) error) error {
	tenant, err := TenantFrom(ctx)
	if err != nil {
		return err
	}
	if err := db.catchUp(ctx, tenant); err != nil {
		return err
	}
	run := func(tx pgx.Tx) error {
		meet(tx.Conn(), tenant.Slug)
		return fn(tx)
	}
	begin := beginActive(tenant.Slug)
	err = db.transact(ctx, begin, run)
	if sqlState(err) == codeStalePlan {
		err = db.transact(ctx, begin, run)
	}
	return err
}

// InShared runs fn in a transaction on the product-wide tables, those of
// schema/shared: unqualified names are looked up in public alone. It needs no
// tenant, and commits and rolls back as InTx does.
func (db *DB) InShared(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return db.transact(ctx, beginPublic, fn)
}

// beginTenant is one message: the search_path ends with the transaction, which
// is what makes it safe behind a pooler.
func beginTenant(slug Slug) string { return "BEGIN; " + lookInto(slug) }

// beginActive is beginTenant for a tenant that must be active now: the context
// knows what its session was read with. It divides by how many such tenants
// there are, so that none is an error of this very message.
func beginActive(slug Slug) string {
	return beginTenant(slug) + fmt.Sprintf(`, 1 / count(*) FROM public.tenants WHERE slug = '%s' AND status = 'active'`, slug.s)
}

const beginPublic = `BEGIN; DISCARD TEMP; SET LOCAL search_path TO public, pg_temp`

// lookInto points a transaction at the tenant's schema. The cast to regnamespace
// fails where the schema is gone, for a search_path that leads nowhere raises no
// error and names would fall through to public. A temporary table that was left
// on the connection is dropped: it would be looked at before all others, and
// pg_temp at the end keeps even a new one from hiding the tenant's own.
func lookInto(slug Slug) string {
	return fmt.Sprintf(`DISCARD TEMP; SET LOCAL search_path TO %s, public, pg_temp; SELECT '%s'::regnamespace`, slug.ident(), slug.ident())
}

// forget removes what a handler may have left on its connection for the
// session's life: cursors, roles, settings, LISTEN, advisory locks, temporary
// tables and the last values of sequences. It is DISCARD ALL, which no
// transaction and no message of several statements may contain, but for
// prepared statements, which are ours.
//
// What the connection was opened with is set again: behind a pooler it is not
// the session's own default, and the pooler would set it before each
// transaction, in a round trip to the server.
func forget(opened map[string]string) string {
	sql := `CLOSE ALL; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; SET search_path TO public; UNLISTEN *; ` +
		`SELECT pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES`
	for _, name := range slices.Sorted(maps.Keys(opened)) {
		sql += fmt.Sprintf(`; SELECT set_config('%s', '%s', false)`, quoted(name), quoted(opened[name]))
	}
	return sql
}

func quoted(s string) string { return strings.ReplaceAll(s, "'", "''") }

// commit checks deferred constraints under the transaction's own search_path,
// and forgets before it commits: COMMIT comes last, for pgx reads from its tag
// whether PostgreSQL has rolled back instead.
func (db *DB) commit() string { return `SET CONSTRAINTS ALL IMMEDIATE; ` + db.forget + `; COMMIT` }

// transact opens a transaction with the message begin and closes it as fn's
// end demands: commit, or rollback on an error, a panic or a runtime.Goexit.
func (db *DB) transact(ctx context.Context, begin string, fn func(tx pgx.Tx) error) error {
	conn, err := db.poolFor(ctx).Acquire(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer conn.Release()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin, CommitQuery: db.commit()})
	if err != nil {
		db.rollback(ctx, conn, nil)
		return beginError(err)
	}
	committed := false
	defer func() {
		if !committed {
			db.rollback(ctx, conn, tx)
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	committed = true
	return nil
}

func beginError(err error) error {
	switch sqlState(err) {
	case codeMissingSchema:
		return fmt.Errorf("%w: %w", ErrSchemaMissing, err)
	case codeDivisionByZero:
		return ErrTenantCancelled // see beginActive
	}
	return fmt.Errorf("begin: %w", err)
}

// undo rolls back and forgets in one message: behind a pooler a second one might
// reach another backend. What fails in it leaves a transaction open, so that a
// pooler does not give that backend to anybody when the connection is closed.
func (db *DB) undo() string { return `ROLLBACK; BEGIN; ` + db.forget + `; COMMIT` }

// rollback runs also when the request's context is over, else the connection
// would have to be thrown away. Where it fails the connection is closed.
func (db *DB) rollback(ctx context.Context, conn *pgxpool.Conn, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	if _, err := conn.Exec(ctx, db.undo()); err != nil {
		_ = conn.Conn().Close(ctx)
	}
	if tx != nil {
		_ = tx.Rollback(ctx) // for tx to know that it is over
	}
}
