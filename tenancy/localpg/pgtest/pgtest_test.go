package pgtest_test

import (
	"context"
	"net/url"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy/localpg/pgtest"
)

func TestURL(t *testing.T) {
	t.Parallel()
	for range 3 {
		t.Run("database", func(t *testing.T) {
			t.Parallel()
			conn, err := pgx.Connect(t.Context(), pgtest.URL(t))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), "CREATE TABLE only_mine ()"); err != nil {
				t.Error(err)
			}
			// The connection stays open: the database is dropped all the same.
		})
	}
}

// In both ways to run the tests, the login is the one that was asked for.
func TestURL_Login(t *testing.T) {
	t.Parallel()
	login := "postgres on" // its name, and whether it is a superuser
	if asked := os.Getenv("PGTEST_LOGIN"); asked != "" {
		login = asked + " off"
	}
	address := pgtest.URL(t)
	for address, want := range map[string]string{
		address: login, pgtest.Pooler(t, address): login, pgtest.Admin(t, address): "postgres on",
	} {
		conn, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		err = conn.QueryRow(t.Context(), `SELECT current_user || ' ' || current_setting('is_superuser')`).Scan(&got)
		if err != nil || got != want {
			t.Errorf("%s is for %q, %v; want %q", address, got, err, want)
		}
		_ = conn.Close(context.Background())
	}
}

func TestNewServer(t *testing.T) {
	t.Parallel()
	s := pgtest.NewServer(t)
	if err := s.Restart(t.Context(), "immediate"); err != nil {
		t.Fatal(err)
	}
	if socket(t, s.URL("")) == socket(t, pgtest.URL(t)) {
		t.Error("the shared server was given for a private one")
	}
}

func socket(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("host")
}
