package jobs_test

import (
	"context"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"example.com/subproduct/tenancy/localpg/pgtest"
)

// riverCatalog is all that River's migrations make, but for when, and without
// an index of ours.
const riverCatalog = `
	SELECT 'column ' || c.relname || '.' || a.attname || ' ' || row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum) || ': ' || format_type(a.atttypid, a.atttypmod)
		|| ' ' || a.attnotnull || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '') || ' ' || c.relpersistence::text
	FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
	WHERE c.relnamespace = 'public'::regnamespace AND c.relname LIKE 'river%' AND c.relkind IN ('r', 'S')
	UNION ALL SELECT 'index ' || indexname || ': ' || indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename LIKE 'river%' AND indexname <> 'waiting_jobs'
	UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ': ' || pg_get_constraintdef(oid) || convalidated
	FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text LIKE 'river%'
	UNION ALL SELECT 'sequence ' || s.oid::regclass || ' of ' || d.refobjid::regclass || ' ' || d.refobjsubid || ' ' || d.deptype::text
	FROM pg_class s JOIN pg_depend d ON d.objid = s.oid AND d.refclassid = 'pg_class'::regclass
	WHERE s.relkind = 'S' AND s.relname LIKE 'river%'
	UNION ALL SELECT 'enum ' || enumtypid::regtype || ' ' || string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum GROUP BY enumtypid
	UNION ALL SELECT 'function ' || pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname LIKE 'river%'
	UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE NOT tgisinternal
	UNION ALL SELECT 'migration ' || line || ' ' || version FROM river_migration
	ORDER BY 1`

// Our migration makes what River's own make: whoever takes a later version of
// River learns here that it wants another schema.
func TestSchema_IsRiversOwn(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	theirs := pgtest.URL(t)
	pool, err := pgxpool.New(t.Context(), theirs)
	must(t, err)
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	must(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	must(t, err)
	want, got := catalog(t, theirs), catalog(t, o.url)
	if all := len(migrator.AllVersions()); len(want) < 50+all {
		t.Errorf("only %d objects were compared", len(want))
	}
	for _, object := range want {
		if !slices.Contains(got, object) {
			t.Errorf("River has, and we have not: %s", object)
		}
	}
	for _, object := range got {
		if !slices.Contains(want, object) {
			t.Errorf("we have, and River has not: %s", object)
		}
	}
}

func catalog(t *testing.T, url string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), `SET search_path TO public`)
	must(t, err)
	rows, _ := conn.Query(t.Context(), riverCatalog)
	objects, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	return objects
}
