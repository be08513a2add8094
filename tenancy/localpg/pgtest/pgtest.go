// Package pgtest gives tests a real PostgreSQL. A test that cannot have one fails; it is never
// skipped.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy/localpg"
)

// shared is the server of this process. It ends with the process, by itself.
var shared = sync.OnceValues(start)

var databases atomic.Int64

func start() (*localpg.Server, error) {
	return localpg.Start(context.Background(), localpg.Options{Fast: true, Params: map[string]string{"max_connections": "300"}})
}

// NewServer starts a server for this test alone, which may do to it what it likes.
func NewServer(t testing.TB) *localpg.Server {
	t.Helper()
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// URL is the address of a new, empty database on the server that all tests of this process
// share. It is dropped at the end of the test, even if connections to it are still open.
func URL(t testing.TB) string {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("test_%d", databases.Add(1))
	if err := execute(s, "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := execute(s, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return s.URL(name)
}

func execute(s *localpg.Server, sql string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}
