package tenancy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATEs that mean something here.
const (
	codeStalePlan     = "0A000" // cached plan must not change result type
	codeMissingSchema = "3F000"
	codeMissingTable  = "42P01"
	codeLockTimeout   = "55P03"
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
// ErrSchemaMissing before fn runs; then no statement has reached any table. The transaction costs three
// round trips beside fn's own, of which none is before BEGIN.
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
	begin := beginTenant(tenant.Slug) + db.takeRole(tenant)
	err = db.transact(ctx, begin, run)
	if sqlState(err) == codeStalePlan {
		err = db.transact(ctx, begin, run)
	}
	return err
}

// beginTenant is one message: the search_path ends with the transaction, which
// is what makes it safe behind a pooler.
func beginTenant(slug Slug) string { return "BEGIN; " + lookInto(slug) }

// lookInto points a transaction at the tenant's schema. The cast to regnamespace
// fails where the schema is gone, for a search_path that leads nowhere raises no
// error and names would fall through to public. A temporary table that another
// tenant's handler left on the connection is dropped: it would be looked at
// before all others, and pg_temp at the end keeps even a new one from hiding
// the tenant's own.
func lookInto(slug Slug) string {
	return fmt.Sprintf(`DISCARD TEMP; SET LOCAL search_path TO %s, public, pg_temp; SELECT '%s'::regnamespace`, slug.ident(), slug.ident())
}

// transact opens a transaction with the message begin and closes it as fn's
// end demands: commit, or rollback on an error, a panic or a runtime.Goexit.
func (db *DB) transact(ctx context.Context, begin string, fn func(tx pgx.Tx) error) error {
	tx, err := db.pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin})
	if sqlState(err) == codeMissingSchema {
		return fmt.Errorf("%w: %w", ErrSchemaMissing, err)
	}
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	committed := false
	defer func() {
		if !committed {
			rollback(ctx, tx)
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

// rollback runs also when the request's context is over, else the connection
// would have to be thrown away. Where it fails the pool closes the connection.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	_ = tx.Rollback(ctx)
}

func sqlState(err error) string {
	if pgErr := (*pgconn.PgError)(nil); errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}
