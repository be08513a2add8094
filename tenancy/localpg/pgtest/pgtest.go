// Package pgtest gives tests a real PostgreSQL. A test that cannot have one
// fails; it is never skipped.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy/localpg"
)

// shared is the server of this process. It ends with the process, by itself.
var shared = sync.OnceValues(start)

var databases atomic.Int64

// dirEnv names a directory in memory for the servers' data, with some GB free
// (PostgreSQL 15 or later). Databases are made and dropped in less than half the
// time there.
const dirEnv = "PGTEST_DIR"

func start() (*localpg.Server, error) {
	s, err := localpg.Start(context.Background(), localpg.Options{
		Fast: true, TempDir: os.Getenv(dirEnv), Params: map[string]string{"max_connections": "300"}})
	if err != nil {
		return nil, err
	}
	return s, makeLogin(s)
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

// URL is the address of a new, empty database on the server that all tests of
// this process share. It is dropped at the end of the test, even if connections
// to it are still open. Its login is the superuser, or the one that PGTEST_LOGIN
// names, which has the rights of a server's.
func URL(t testing.TB) string {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("test_%d", databases.Add(1))
	if err := execute(s, "postgres", create(name)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := execute(s, "postgres", "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	address, err := address(s, name)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// create copies files where they are in memory; since PostgreSQL 15 it would
// write them to the log otherwise.
func create(name string) string {
	sql := "CREATE DATABASE " + name + " TEMPLATE template0"
	if os.Getenv(dirEnv) == "" {
		return sql
	}
	return sql + " STRATEGY file_copy"
}

// execute runs statements as the superuser.
func execute(s *localpg.Server, database, sql string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.URL(database))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}
