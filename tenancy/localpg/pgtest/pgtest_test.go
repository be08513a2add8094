package pgtest_test

import (
	"net/url"
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
