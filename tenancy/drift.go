package tenancy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// Drift is a difference between a tenant's catalog and that of a schema which
// this program has just built.
type Drift struct {
	Slug   string `json:"slug"`
	Object string `json:"object"` // for example: column notes.title
	Want   string `json:"want"`   // empty: it should not be there
	Got    string `json:"got"`    // empty: it is missing
}

func (d Drift) String() string {
	switch {
	case d.Got == "":
		return fmt.Sprintf("%s: %s is missing (want %s)", d.Slug, d.Object, d.Want)
	case d.Want == "":
		return fmt.Sprintf("%s: %s should not be there (%s)", d.Slug, d.Object, d.Got)
	}
	return fmt.Sprintf("%s: %s is %s, want %s", d.Slug, d.Object, d.Got, d.Want)
}

// catalog describes a schema: object → definition, free of the schema's name.
type catalog map[string]string

// errRolledBack makes transact undo what was only built to be looked at.
var errRolledBack = errors.New("rolled back on purpose")

// FindDrift compares the catalog of every tenant that is at this program's
// version with a reference, and calls each with every difference, in the order
// of the slugs within a worker. The reference is built in a transaction that is
// rolled back. Tenants that are behind or ahead are left out.
func (db *DB) FindDrift(ctx context.Context, jobs int, each func(Drift)) error {
	var want catalog
	err := db.withReference(ctx, func(tx pgx.Tx) (err error) {
		want, err = readCatalog(ctx, tx, referenceSlug)
		return err
	})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	return db.eachCurrent(ctx, cmp.Or(jobs, 4), func(slug Slug) error {
		got, err := db.catalogOf(ctx, slug)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, d := range want.diff(slug, got) {
			each(d)
		}
		return nil
	})
}

// referenceSlug names the schema that the reference is built in; a transaction
// that is rolled back shows it to nobody. No tenant can have that slug.
var referenceSlug = Slug{"-reference-for-drift"}

// withReference runs fn where a tenant's schema has just been built.
func (db *DB) withReference(ctx context.Context, fn func(tx pgx.Tx) error) error {
	err := db.transact(ctx, beginLocked(referenceSlug), func(tx pgx.Tx) error {
		d := &txDriver{ctx: ctx, tx: tx, slug: referenceSlug, create: true, migrations: db.tenant}
		if err := db.tenant.up(d); err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		return errRolledBack
	})
	if !errors.Is(err, errRolledBack) {
		return fmt.Errorf("reference schema: %w", err)
	}
	return nil
}

func (db *DB) catalogOf(ctx context.Context, slug Slug) (c catalog, err error) {
	err = db.transact(ctx, beginTenant(slug), func(tx pgx.Tx) error {
		c, err = readCatalog(ctx, tx, slug)
		return err
	})
	if errors.Is(err, ErrSchemaMissing) {
		return catalog{}, nil // everything is missing
	}
	return c, err
}

// diff lists what differs, by object.
func (c catalog) diff(slug Slug, got catalog) (found []Drift) {
	both := maps.Clone(c)
	maps.Copy(both, got)
	for _, object := range slices.Sorted(maps.Keys(both)) {
		if c[object] != got[object] {
			found = append(found, Drift{slug.s, object, c[object], got[object]})
		}
	}
	return found
}

// eachCurrent calls fn, by jobs goroutines, for every tenant that is at this
// program's version.
func (db *DB) eachCurrent(ctx context.Context, jobs int, fn func(Slug) error) error {
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(jobs)
	for t, err := range db.tenantsWith(ctx, `schema_version = $1`, db.tenant.latest) {
		if err != nil {
			workers.Go(func() error { return cmp.Or(context.Cause(ctx), err) })
			break
		}
		workers.Go(func() error {
			if err := fn(t.Slug); err != nil {
				return fmt.Errorf("tenant %s: %w", t.Slug, err)
			}
			return nil
		})
	}
	return workers.Wait()
}

// readCatalog describes the schema that the transaction's search_path begins
// with: then PostgreSQL leaves its name out of what it prints.
func readCatalog(ctx context.Context, tx pgx.Tx, slug Slug) (catalog, error) {
	rows, _ := tx.Query(ctx, catalogSQL, slug.Schema())
	c := catalog{}
	var object, definition string
	_, err := pgx.ForEachRow(rows, []any{&object, &definition}, func() error {
		c[object] = strings.ReplaceAll(strings.ReplaceAll(definition, slug.ident()+".", ""), slug.Schema()+".", "")
		return nil
	})
	return c, err
}
