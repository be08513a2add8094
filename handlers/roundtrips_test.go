package handlers_test

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/subproduct/handlers"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/tenancy"
)

// turns counts how often a connection stopped writing and began to read: what a
// network with latency charges for.
type turns struct {
	net.Conn
	wrote atomic.Bool
	count *atomic.Int64
}

func (c *turns) Write(b []byte) (int, error) { c.wrote.Store(true); return c.Conn.Write(b) }

func (c *turns) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && c.wrote.Swap(false) {
		c.count.Add(1)
	}
	return n, err
}

// A signed-in request with one query makes four round trips: the session,
// BEGIN with the search_path, the query, COMMIT.
func TestRoundTripsOfASignedInRequest(t *testing.T) {
	t.Parallel()
	var count atomic.Int64
	site := handlertest.Start(t, handlertest.Setup{
		Env: map[string]string{"DATABASE_MAX_CONNS": "1"},
		Serve: handlers.ServeOptions{Database: tenancy.Options{Configure: func(c *pgxpool.Config) {
			dial := c.ConnConfig.DialFunc
			c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dial(ctx, network, addr)
				return &turns{Conn: conn, count: &count}, err
			}
		}}},
	})
	b := site.SignIn(t, "acme")
	want := int64(4)
	fewest := int64(1 << 60) // the health probe and the inbox's worker talk now and then
	for range 20 {
		before := count.Load()
		if answer := b.API(http.MethodGet, "/api/notes", ""); answer.Status != http.StatusOK {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
		fewest = min(fewest, count.Load()-before)
	}
	if fewest != want {
		t.Errorf("%d round trips, want %d", fewest, want)
	}
}
