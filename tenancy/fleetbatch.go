package tenancy

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// A commit and its round trips cost several times what a small migration does,
// so tenants are migrated some at a time in one transaction, each within a
// savepoint and one message. A tenant that fails there is undone, and done alone
// afterwards, by golang-migrate, which says why. Everybody's locks last until
// the batch ends: it is short, and waits for nobody. A tenant that takes long,
// being large, counts as one that fails.
const (
	mostInBatch      = 50
	batchRelations   = 500 // that one transaction may lock
	batchTime        = 100 * time.Millisecond
	batchLockTimeout = "20ms"
	batchStatement   = "200ms" // is what one of a tenant may take
)

// batchSize is how many tenants fit into a transaction: 1 where none but alone
// may be migrated, as on Citus, and where each is to be counted.
func (f *fleet) batchSize(ctx context.Context) (n int, err error) {
	if !f.options.Only.IsZero() || f.options.MaxFailures > 0 {
		return 1, nil
	}
	var relations int
	var citus bool
	err = f.db.pool.QueryRow(ctx, `
		SELECT count(*), EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') FROM pg_class WHERE relnamespace = (
			SELECT to_regnamespace('"tenant_' || slug || '"') FROM public.tenants WHERE schema_version < $1 ORDER BY schema_version, slug LIMIT 1)`,
		f.db.tenant.latest).Scan(&relations, &citus)
	if err != nil {
		return 0, fmt.Errorf("tables of a tenant: %w", err)
	}
	if citus || f.db.tenant.latest == 0 {
		return 1, nil
	}
	return max(1, min(mostInBatch, batchRelations/max(1, relations))), nil
}

// claimed is a tenant that is behind.
type claimed struct {
	position
	free bool // nobody else has its lock: it is ours now
}

// batch migrates the tenants after *after, as many as fit, and moves it on. It
// returns those that are to be migrated alone, and errNoneLeft.
func (f *fleet) batch(ctx context.Context, after *position) (alone []Slug, err error) {
	var done []Slug
	err = f.db.transact(ctx, beginClaim+`; SET LOCAL lock_timeout = '`+batchLockTimeout+`'; SAVEPOINT one`, func(tx pgx.Tx) error {
		all, err := f.claim(ctx, tx, *after, f.inBatch)
		if err != nil {
			return err
		}
		for end := time.Now().Add(batchTime); len(all) > 0 && time.Now().Before(end); all = all[1:] {
			next := all[0]
			*after = next.position
			if !next.free || !f.try(next.slug) {
				continue
			}
			if f.inBatch == 1 {
				alone = append(alone, next.slug)
			} else if err := f.oneOf(ctx, tx, next.position); err == nil {
				done = append(done, next.slug)
			} else if ctx.Err() != nil || IsUnavailable(err) && sqlState(err) != codeCancelled {
				return err
			} else {
				alone = append(alone, next.slug)
			}
		}
		return nil
	})
	for _, slug := range done {
		if err != nil { // the transaction, and all of it
			f.untry(slug)
		} else if err := f.note(ctx, slug, nil); err != nil {
			return nil, err
		}
	}
	return alone, err
}

// claim takes the locks of the next tenants that are behind, up to limit.
func (f *fleet) claim(ctx context.Context, tx pgx.Tx, after position, limit int) ([]claimed, error) {
	if err := f.lead(ctx, tx); err != nil {
		return nil, err
	}
	rows, _ := tx.Query(ctx, `
		SELECT schema_version, slug, pg_try_advisory_xact_lock($4, hashtext(slug)) FROM (
			SELECT schema_version, slug FROM public.tenants
			WHERE schema_version < $1 AND (schema_version, slug) > ($2, $3) AND slug <> ALL ($5) AND ($6 = '' OR slug = $6)
			ORDER BY schema_version, slug LIMIT $7) t`,
		f.db.tenant.latest, after.version, after.slug.s, LockKey, f.working(), f.options.Only.s, limit)
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c claimed, err error) {
		return c, row.Scan(&c.version, &c.slug.s, &c.free)
	})
	if err == nil && len(all) == 0 {
		err = errNoneLeft
	}
	return all, err
}

// oneOf migrates a tenant of a batch in one message. The savepoint for the next
// goes with it, for a message that cannot be parsed does nothing at all.
func (f *fleet) oneOf(ctx context.Context, tx pgx.Tx, at position) error {
	var files strings.Builder
	for _, file := range f.db.tenant.after(at.version) {
		files.WriteString(file.sql + "\n;\n")
	}
	versions, target := at.slug.ident()+".schema_migrations", f.db.tenant.latest
	// It divides by whether the tenant is not being purged, and by whether its
	// schema is at the version that the registry says.
	message := fmt.Sprintf(`SET LOCAL search_path TO %[1]s, public, pg_temp; SET LOCAL statement_timeout TO '`+batchStatement+`';
		SELECT '%[1]s'::regnamespace, 1 / count(*) FROM public.tenants WHERE slug = '%[6]s' AND purging_since IS NULL;
		SELECT 1 / (coalesce(max(version), 0) = %[3]d)::int FROM %[2]s;
		%[4]s
		;DELETE FROM %[2]s; INSERT INTO %[2]s (version, dirty) VALUES (%[5]d, false);
		UPDATE public.tenants SET schema_version = %[5]d, migrate_error = NULL, updated_at = now() WHERE slug = '%[6]s';
		RELEASE SAVEPOINT one; SAVEPOINT one`,
		at.slug.ident(), versions, at.version, files.String(), target, at.slug.s)
	_, err := tx.Conn().PgConn().Exec(ctx, message).ReadAll()
	if err == nil {
		return nil
	}
	if _, undone := tx.Exec(ctx, `ROLLBACK TO SAVEPOINT one`); undone != nil {
		return undone
	}
	return err
}

// alone migrates a tenant in a transaction of its own. The tenant's lock, which is
// not waited for, shares tenants out among runs, and with events and requests that
// work on the tenant. It returns ErrBusy where somebody else has it, or was faster.
// The registry row is not locked until the migration has run: a sign-in needs it.
func (f *fleet) alone(ctx context.Context, slug Slug) error {
	return f.db.transact(ctx, beginClaim, func(tx pgx.Tx) error {
		if err := f.lead(ctx, tx); err != nil {
			return err
		}
		var wanted bool
		err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1, hashtext($2))`, LockKey, slug.s).Scan(&wanted)
		if err == nil && wanted {
			wanted, err = f.db.upgradeTenant(ctx, tx, slug)
		}
		if err == nil && !wanted {
			err = ErrBusy
		}
		return err
	})
}

// lead takes the lock with which one replica at a time migrates in the background,
// or returns ErrBusy. It is the lock of each transaction that migrates, and not of
// one that is kept open for it: a replica may have one connection for all this.
func (f *fleet) lead(ctx context.Context, tx pgx.Tx) error {
	if !f.options.givesWay {
		return nil
	}
	var leads bool
	err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1, -1)`, LockKey).Scan(&leads)
	if err == nil && !leads {
		err = ErrBusy
	}
	return err
}

func (f *fleet) untry(slug Slug) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.tried, slug)
}
