package tenancy

import "testing"

func TestStatement_LeavesNothingOnItsConnection(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]bool{
		`SELECT id, title FROM notes WHERE ($1 = '' OR title ILIKE $1) ORDER BY id DESC LIMIT 100`: true,
		`-- name: ListNotes :many
SELECT id FROM notes WHERE id IN (SELECT note FROM tags) AND lower(title) = lower ($1)`: true,
		"\n\tWITH recent AS (SELECT * FROM notes)\nSELECT count(*) FROM recent": true,
		`SELECT title||(left(body, 10)) FROM notes`:                             true,
		`INSERT INTO notes (title) VALUES ($1)`:                                 false,
		`WITH gone AS (DELETE FROM notes RETURNING id) SELECT id FROM gone`:     false,
		`SELECT * INTO TEMP t FROM notes`:                                       false,
		`SELECT set_config('role', 'x', false)`:                                 false,
		`SELECT pg_catalog.set_config('role', 'x', false)`:                      false,
		`SELECT "set_config"('role', 'x', false)`:                               false,
		`SELECT "set config" ('role')`:                                          false,
		`SELECT id, set_config ` + "\n" + `('role', 'x', false) FROM notes`:     false,
		`SELECT set_config/* */('role', 'x', false)`:                            false,
		"SELECT set_config -- \n('role', 'x', false)":                           false,
		"-- name: x\nSELECT pg_advisory_lock(1)":                                false,
		`SELECT nextval('notes_id_seq')`:                                        false,
		`SELECT U&"s\0065t_config"('role', 'x', false)`:                         false,
		`SELECT my_own(id) FROM notes`:                                          false,
		`SELECT public.count(id) FROM notes`:                                    false,
		`SET search_path TO public`:                                             false,
		`DECLARE c CURSOR WITH HOLD FOR SELECT 1`:                               false,
		`VALUES (set_config('a.b', 'c', false))`:                                false,
		`TABLE notes`:                                                           false,
	} {
		if got := leavesNothing(sql); got != want {
			t.Errorf("%q: %v, want %v", sql, got, want)
		}
	}
}
