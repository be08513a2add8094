package handlertest

import (
	"testing"

	"example.com/subproduct/tenancy/localpg/pgtest"
)

// Query reads one value from the site's database, past everything that is
// tested.
func Query[T any](t testing.TB, s *Site, sql string, args ...any) T {
	t.Helper()
	return pgtest.Query[T](t, s.Database, sql, args...)
}

// Exec changes the site's database, past everything that is tested.
func (s *Site) Exec(t testing.TB, sql string) {
	t.Helper()
	pgtest.Exec(t, s.Database, sql)
}
