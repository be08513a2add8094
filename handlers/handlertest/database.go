package handlertest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Query reads one value from the site's database, past everything that is
// tested.
func Query[T any](t testing.TB, s *Site, sql string, args ...any) (value T) {
	t.Helper()
	conn := s.connect(t)
	defer conn.Close(context.Background())
	if err := conn.QueryRow(context.Background(), sql, args...).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// Exec changes the site's database, past everything that is tested.
func (s *Site) Exec(t testing.TB, sql string) {
	t.Helper()
	conn := s.connect(t)
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), sql); err != nil {
		t.Fatal(err)
	}
}

func (s *Site) connect(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), s.Database)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
