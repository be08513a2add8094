package tenancy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// rollbackTimeout bounds the one statement that must run although the request
// is over.
const rollbackTimeout = 5 * time.Second

// brokenPause is how long a transaction that was ended for another one waits: at
// once it would take the same locks again, before that one has woken.
const brokenPause = 20 * time.Millisecond

// InTx runs fn in a transaction on the data of ctx's tenant: unqualified names
// are looked up in its schema, then in public. It commits when fn returns nil
// and returns the commit's error; it rolls back when fn returns an error or
// panics. tx is dead once fn has returned, and ends in no other way.
//
// fn may run a second time from the start, when the tenant's tables changed
// under a prepared statement (SQLSTATE 0A000), or PostgreSQL has ended the
// transaction for another one (40P01, 40001): have it assign results, not append
// to what an earlier run left.
//
// InTx returns ErrNoTenant, ErrTenantCancelled or ErrNotMigrated before fn runs.
// Whether the tenant is still there and active is asked with fn's first
// statement, which BEGIN travels with: that statement then has no effect and
// returns ErrSchemaMissing or ErrTenantCancelled, and so does InTx, whatever fn
// makes of it. A transaction that has begun before its tenant is cancelled may
// finish. It costs one round trip beside fn's own: COMMIT.
//
// InTx, InShared or Query within fn is a transaction of its own, on a second
// connection: end one before you begin the next where you can.
func (db *DB) InTx(ctx context.Context, fn func(tx pgx.Tx) error) error {
	tenant, err := db.usable(ctx)
	if err != nil {
		return err
	}
	err = db.inTx(ctx, tenant, fn)
	switch {
	case isBroken(err): // the other one goes first
		select {
		case <-time.After(brokenPause):
		case <-ctx.Done():
		}
	case sqlState(err) != codeStalePlan:
		return err
	}
	return db.inTx(ctx, tenant, fn)
}

// usable returns ctx's tenant once its tables are those that this program knows.
func (db *DB) usable(ctx context.Context) (Tenant, error) {
	tenant, err := TenantFrom(ctx)
	if err != nil {
		return tenant, err
	}
	return tenant, db.catchUp(ctx, tenant)
}

func (db *DB) inTx(ctx context.Context, tenant Tenant, fn func(tx pgx.Tx) error) error {
	tx, err := db.newTx(ctx, tenant)
	if err != nil {
		return err
	}
	committed := false
	defer func() { tx.end(ctx, committed) }()
	if err := fn(tx); err != nil || tx.failed != nil {
		return cmp.Or(tx.failed, err)
	}
	if err := tx.commit(ctx); err != nil {
		return err
	}
	committed = true
	return nil
}

// InShared runs fn in a transaction on the product-wide tables, those of
// schema/shared: unqualified names are looked up in public alone. It needs no
// tenant, and commits and rolls back as InTx does. Where ctx has a tenant, it
// takes from that tenant's share of the connections.
//
// Within InTx, whose tx can read these tables itself, it takes a second
// connection. A request or a job gets that in the end, but a third one, and a
// second where ctx is of neither, may wait for each other until their contexts
// end.
func (db *DB) InShared(ctx context.Context, fn func(tx pgx.Tx) error) error {
	tenant, _ := TenantFrom(ctx)
	conn, err := db.acquire(ctx, tenant.Slug)
	if err != nil {
		return err
	}
	defer conn.Release()
	return db.transactOn(ctx, conn.Conn, beginPublic+limits(ctx), fn)
}

// beginTenant opens a transaction on the tenant's schema. It is one message: the
// search_path ends with the transaction, which is what makes it safe behind a
// pooler. The cast to regnamespace fails where the schema is gone, for a
// search_path that leads nowhere raises no error and names would fall through to
// public. A temporary table that was left on the connection is dropped: it would
// be looked at before all others, and pg_temp at the end keeps even a new one
// from hiding the tenant's own.
func beginTenant(slug Slug) string {
	return fmt.Sprintf(`BEGIN; DISCARD TEMP; SET LOCAL search_path TO %[1]s, public, pg_temp; SELECT '%[1]s'::regnamespace`, slug.ident())
}

// beginActive is beginTenant for a tenant that must be active now, and the same
// that the context knows: what its session was read with. It divides by how many
// such tenants there are, so that none is an error of this very message.
func beginActive(slug Slug, id int64) string {
	return beginTenant(slug) + fmt.Sprintf(`, 1 / count(*) FROM public.tenants WHERE slug = '%s' AND status = 'active' AND %d IN (0, id)`, slug.s, id)
}

const beginPublic = `BEGIN; DISCARD TEMP; SET LOCAL search_path TO public, pg_temp`

func quoted(s string) string { return strings.ReplaceAll(s, "'", "''") }

// commit checks deferred constraints under the transaction's own search_path,
// and forgets before it commits: COMMIT comes last, for pgx reads from its tag
// whether PostgreSQL has rolled back instead.
func (db *DB) commit() string {
	return `SET CONSTRAINTS ALL IMMEDIATE; ` + strings.Join(db.forget, "; ") + `; COMMIT`
}

// transact opens a transaction with the message begin and closes it as fn's
// end demands: commit, or rollback on an error, a panic or a runtime.Goexit.
func (db *DB) transact(ctx context.Context, begin string, fn func(tx pgx.Tx) error) error {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer conn.Release()
	return db.transactOn(ctx, conn, begin, fn)
}

func (db *DB) transactOn(ctx context.Context, conn *pgxpool.Conn, begin string, fn func(tx pgx.Tx) error) error {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin, CommitQuery: db.commit()})
	if err != nil {
		db.abandon(ctx, conn, nil)
		return beginError(ctx, err)
	}
	return db.within(ctx, conn, tx, fn)
}

// within runs fn in a transaction that has begun, and closes it as fn's end
// demands.
func (db *DB) within(ctx context.Context, conn *pgxpool.Conn, tx pgx.Tx, fn func(tx pgx.Tx) error) error {
	committed := false
	defer func() {
		if !committed {
			db.abandon(ctx, conn, tx)
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

// abandon rolls back; tx is nil where it could not begin.
func (db *DB) abandon(ctx context.Context, conn *pgxpool.Conn, tx pgx.Tx) {
	db.rollback(ctx, conn, db.undo())
	if tx != nil {
		_ = tx.Rollback(context.WithoutCancel(ctx)) // for tx to know that it is over
	}
}

// beginError says by ctx's own error that it has ended: the server's word for
// that, which comes first now and then, is the same for a limit of its own.
func beginError(ctx context.Context, err error) error {
	switch sqlState(err) {
	case codeCancelled:
		return fmt.Errorf("begin: %w", errors.Join(ctx.Err(), err))
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
func (db *DB) undo() string {
	return `ROLLBACK; BEGIN; ` + strings.Join(db.forget, "; ") + `; COMMIT`
}

// rollback runs also when the request's context is over, else the connection
// would have to be thrown away. Where it fails the connection is closed.
func (db *DB) rollback(ctx context.Context, conn *pgxpool.Conn, sql string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	if _, err := conn.Exec(ctx, sql); err != nil {
		_ = conn.Conn().Close(ctx)
	}
}
