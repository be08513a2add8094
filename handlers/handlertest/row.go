package handlertest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Row is the id of the newest row of a tenant's table. Where there is none it
// makes one up, and before that one of each table which that must refer to.
func (s *Site) Row(t testing.TB, slug, table string) (id int64) {
	t.Helper()
	s.inTenant(t, slug, func(tx pgx.Tx) (err error) {
		id, err = anyRow(context.Background(), tx, table)
		return err
	})
	return id
}

func anyRow(ctx context.Context, tx pgx.Tx, table string) (id int64, err error) {
	name := pgx.Identifier{table}.Sanitize()
	if err = tx.QueryRow(ctx, `SELECT coalesce(max(id), 0) FROM `+name).Scan(&id); err != nil || id > 0 {
		return id, err
	}
	needs, err := needed(ctx, tx, name)
	if err != nil {
		return 0, err
	}
	var columns, values []string
	for _, c := range needs {
		value := madeUp[c.Kind]
		if c.RefersTo != "" {
			parent, err := anyRow(ctx, tx, c.RefersTo)
			if err != nil {
				return 0, err
			}
			value = fmt.Sprint(parent)
		}
		columns, values = append(columns, pgx.Identifier{c.Name}.Sanitize()), append(values, "'"+value+"'")
	}
	sql := `INSERT INTO ` + name + ` (` + strings.Join(columns, ", ") + `) VALUES (` + strings.Join(values, ", ") + `) RETURNING id`
	if err = tx.QueryRow(ctx, sql).Scan(&id); err != nil {
		err = fmt.Errorf("no row of %s can be made up, so insert one yourself before: %w", table, err)
	}
	return id, err
}

// madeUp are values by the category of a type, and that of types by their name.
var madeUp = map[string]string{
	"S": "x", "N": "1", "B": "false", "D": "2027-01-31", "uuid": "7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c34", "json": "{}", "jsonb": "{}", "A": "{}",
}

type need struct{ Name, Kind, RefersTo string }

// needed are the columns of a table that must be given.
func needed(ctx context.Context, tx pgx.Tx, table string) ([]need, error) {
	rows, err := tx.Query(ctx, `
		SELECT a.attname, CASE t.typcategory WHEN 'U' THEN t.typname ELSE t.typcategory::text END, coalesce(parent.relname, '')
		FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
		LEFT JOIN pg_constraint c ON c.conrelid = a.attrelid AND c.contype = 'f' AND c.conkey = ARRAY[a.attnum]
		LEFT JOIN pg_class parent ON parent.oid = c.confrelid
		WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AND NOT a.attisdropped`, table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[need])
}
