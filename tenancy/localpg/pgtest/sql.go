package pgtest

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Connect is a connection of the test's own, past everything that is tested. Its
// owner closes it.
func Connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// Query returns one value, read past everything that is tested.
func Query[T any](t testing.TB, url, sql string, args ...any) (value T) {
	t.Helper()
	conn := Connect(t, url)
	defer conn.Close(context.Background())
	if err := conn.QueryRow(context.Background(), sql, args...).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// Exec runs statements past everything that is tested.
func Exec(t testing.TB, url, sql string) {
	t.Helper()
	conn := Connect(t, url)
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), sql); err != nil {
		t.Fatal(err)
	}
}

// Lock holds a table, in ACCESS EXCLUSIVE MODE if no other is named after it,
// until release.
func Lock(t testing.TB, url, table string) (release func()) {
	t.Helper()
	conn := Connect(t, url)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	command := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	command(`BEGIN; LOCK TABLE ` + table)
	return func() { t.Helper(); command(`COMMIT`) }
}

// Waiting returns how many statements wait for a lock.
func Waiting(t testing.TB, url string) int {
	t.Helper()
	return Query[int](t, url, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
}

// Dir is a temporary folder that PostgreSQL's own user can enter too, which
// t.TempDir is not when root runs the tests.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dev")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
