package server_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
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

// counted is a site whose one connection counts its round trips.
func counted(t *testing.T, env map[string]string) (*handlertest.Site, *atomic.Int64) {
	t.Helper()
	count := &atomic.Int64{}
	counting := func(c *pgxpool.Config) {
		dial := c.ConnConfig.DialFunc
		c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			return &turns{Conn: conn, count: count}, err
		}
	}
	return handlertest.Start(t, fixture.Product(), handlertest.Setup{
		Env:   env,
		Serve: server.Options{Database: func(o *tenancy.Options) { o.Configure, o.MaxConns = counting, 1 }},
	}), count
}

// fewest is how many round trips a request makes when nothing else talks: the
// health probe and the inbox's worker do so now and then.
func fewest(t *testing.T, count *atomic.Int64, request func() handlertest.Answer) int64 {
	t.Helper()
	least := int64(1 << 60)
	for range 20 {
		before := count.Load()
		if answer := request(); answer.Status != http.StatusOK {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
		least = min(least, count.Load()-before)
	}
	return least
}

// A signed-in request with one query makes three round trips: the session,
// the query with BEGIN and the search_path, COMMIT.
func TestRoundTrips_OfASignedInRequest(t *testing.T) {
	t.Parallel()
	site, count := counted(t, map[string]string{})
	b := site.SignIn(t, "acme")
	if n := fewest(t, count, func() handlertest.Answer { return b.API(http.MethodGet, "/api/items", "") }); n != 3 {
		t.Errorf("%d round trips, want 3", n)
	}
}

// One with a token of the platform too: the tenant stands for the session.
func TestRoundTrips_OfARequestWithAToken(t *testing.T) {
	t.Parallel()
	keys := httptest.NewServer(nil)
	defer keys.Close()
	site, count := counted(t, map[string]string{"PLATFORM_JWKS_URL": keys.URL + "/.well-known/jwks.json"})
	keys.Config.Handler = site.Platform.Handler()
	site.Subscribe(t, "acme")
	token, err := site.Platform.Token("", "u-acme", "")
	if err != nil {
		t.Fatal(err)
	}
	b := site.Browser(t)
	header := http.Header{"Authorization": {"Bearer " + token}}
	if n := fewest(t, count, func() handlertest.Answer { return b.Do(http.MethodGet, "/api/items", nil, header) }); n != 3 {
		t.Errorf("%d round trips, want 3", n)
	}
}
