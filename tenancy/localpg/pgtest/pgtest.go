// Package pgtest gives tests a real PostgreSQL. A test that cannot have one fails; it is never skipped.
package pgtest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/subproduct/tenancy/localpg"
)

// shared is a process-wide server: it ends with the process, by itself.
var shared = sync.OnceValues(start)

var databases atomic.Int64

func start() (*localpg.Server, error) {
	return localpg.Start(context.Background(), localpg.Options{Fast: true, Params: map[string]string{"max_connections": "300"}})
}

// Server is the server that all tests of this process share. It must not be stopped or halted.
func Server(t testing.TB) *localpg.Server {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
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

// URL is the address of a new, empty database on the shared server. It is dropped at the end of the test, even if
// connections to it are still open.
func URL(t testing.TB) string {
	t.Helper()
	s := Server(t)
	name := fmt.Sprintf("test_%d", databases.Add(1))
	if err := s.CreateDatabase(context.Background(), name, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.DropDatabase(context.Background(), name); err != nil {
			t.Error(err)
		}
	})
	return s.URL(name)
}
