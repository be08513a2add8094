package server_test

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// theCause is what only the log may say.
var theCause = regexp.MustCompile(`SQLSTATE|postgres|PGSQL|dial|socket|terminat|/tmp`)

// apologizes wants an answer to be a success, or what is said when the database
// is at fault: 503, when to come back, and nothing of the reason. It reports
// which.
func apologizes(t *testing.T, what string, a handlertest.Answer) (apology bool) {
	t.Helper()
	if a.Status < 400 {
		return false
	}
	html := strings.HasPrefix(a.Header.Get("Content-Type"), "text/html")
	if a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" || theCause.MatchString(a.Body) || strings.HasPrefix(what, "page") && !html ||
		strings.HasPrefix(what, "api") && a.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s: %d %v %s", what, a.Status, a.Header, a.Body)
	}
	return true
}

// everything is asked by one client, and by all who come: pages, the API, a
// sign-in and an event. It returns how many were refused.
func everything(t *testing.T, site *handlertest.Site, b *handlertest.Browser, n int) (refused int) {
	for what, answer := range map[string]handlertest.Answer{
		"page":       b.Get("/items"),
		"page, form": b.Post("/items", url.Values{"label": {"x"}}),
		"api":        b.API(http.MethodGet, "/api/items", ""),
		"api, write": b.API(http.MethodPost, "/api/items", `{"label":"x"}`),
		"event":      site.Event(t, "item.suggested", "acme", map[string]any{"label": fmt.Sprint(n), "by": "somebody"}),
		"page, new":  site.Browser(t).Callback("u-acme"),
	} {
		if apologizes(t, what, answer) {
			refused++
		}
	}
	return refused
}

// Whatever is under way while connections die, the database is who is blamed.
func TestOutage_KilledConnectionsAre503(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	run := campaign{kill: make(chan struct{})}
	var saboteur, clients sync.WaitGroup
	saboteur.Go(func() { run.sabotage(t, site.Database) })
	var refused, asked atomic.Int64
	for i := range 8 {
		clients.Go(func() {
			for n := i; n < 160; n += 8 {
				run.kill <- struct{}{}
				refused.Add(int64(everything(t, site, b, n)))
				asked.Add(6)
			}
		})
	}
	clients.Wait()
	close(run.kill)
	saboteur.Wait()
	t.Logf("%d of %d were refused, %d connections killed", refused.Load(), asked.Load(), run.kills.Load())
	if run.kills.Load() == 0 || refused.Load() == 0 {
		t.Error("nothing of it took place")
	}
	handlertest.Await(t, "all is well", func() bool { return everything(t, site, b, -1) == 0 })
}

// A database that takes no writes serves what only reads, refuses the rest with
// 503, and is back at once. Sessions survive.
func TestOutage_AReadOnlyDatabaseIs503(t *testing.T) {
	t.Parallel()
	postgres := pgtest.NewServer(t)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: postgres.URL("postgres")})
	b := site.SignIn(t, "acme")
	readOnly := func(on string) {
		site.Exec(t, `ALTER SYSTEM SET default_transaction_read_only TO `+on)
		site.Exec(t, `SELECT pg_reload_conf()`)
	}
	readOnly("on")
	handlertest.Await(t, "writes are refused", func() bool { return everything(t, site, b, 1) == 4 })
	if answer := b.Get("/items"); answer.Status != http.StatusOK {
		t.Errorf("a page that only reads: %d", answer.Status)
	}
	readOnly("off")
	awaitWell(t, site, b)
}

// A handler's own failures stay its own.
func TestOutage_AHandlersBugIs500(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.With(func(r server.Routes) {
		r.User.GET("/api/bug/:sql", func(c echo.Context) error {
			return r.DB.InTx(c.Request().Context(), func(tx pgx.Tx) error {
				_, err := tx.Exec(c.Request().Context(), c.Param("sql"))
				return err
			})
		})
		r.User.GET("/api/elsewhere", func(c echo.Context) error {
			return r.DB.InTx(c.Request().Context(), func(pgx.Tx) error {
				_, err := (&net.Dialer{}).DialContext(c.Request().Context(), "tcp", "127.0.0.1:1")
				return err
			})
		})
	}), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	for _, path := range []string{"/api/bug/nonsense", "/api/bug/" + url.PathEscape("SELECT 1/0"), "/api/elsewhere"} {
		if answer := b.API(http.MethodGet, path, ""); answer.Status != http.StatusInternalServerError || answer.Header.Get("Retry-After") != "" {
			t.Errorf("%s: %d", path, answer.Status)
		}
	}
}

// A network that swallows everything holds requests no longer than their
// deadline, an event no longer than the platform waits, and is forgotten
// when it is over.
func TestOutage_ANetworkThatSwallowsIs503(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	network := newNetwork(t, database)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{
		Database: database, Env: map[string]string{"DATABASE_URL": network.url},
	})
	b := site.SignIn(t, "acme")
	network.swallow(true)
	began := time.Now()
	var asked sync.WaitGroup
	asked.Go(func() { wantApology(t, "page", b.Get("/items")) })
	asked.Go(func() { wantApology(t, "api", b.API(http.MethodGet, "/api/items", "")) })
	asked.Go(func() {
		wantApology(t, "event", site.Event(t, "item.suggested", "acme", nil))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the event was answered after %v", took)
		}
	})
	asked.Wait()
	if took := time.Since(began); took > 25*time.Second {
		t.Errorf("a request was held for %v", took)
	}
	network.swallow(false)
	awaitWell(t, site, b)
}

func wantApology(t *testing.T, what string, a handlertest.Answer) {
	t.Helper()
	if !apologizes(t, what, a) {
		t.Errorf("%s: %d, want 503", what, a.Status)
	}
}

// network is a TCP way to a database on a Unix socket.
type network struct {
	url    string
	socket string
	mu     sync.Cond
	silent bool
}

func newNetwork(t *testing.T, database string) *network {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{socket: u.Query().Get("host") + "/.s.PGSQL." + u.Query().Get("port"), mu: sync.Cond{L: &sync.Mutex{}}}
	u.Host, u.RawQuery = l.Addr().String(), "sslmode=disable"
	n.url = u.String()
	go n.accept(l)
	t.Cleanup(func() { l.Close(); n.swallow(false) })
	return n
}

func (n *network) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", n.socket)
		if err != nil {
			client.Close()
			continue
		}
		go n.carry(client, server)
		go n.carry(server, client)
	}
}

// carry passes bytes on, but for as long as they are swallowed: those arrive
// later, as what TCP sends again does.
func (n *network) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	for b := make([]byte, 32<<10); ; {
		read, err := from.Read(b)
		n.mu.L.Lock()
		for n.silent {
			n.mu.Wait()
		}
		n.mu.L.Unlock()
		if _, writeErr := to.Write(b[:read]); err != nil || writeErr != nil {
			return
		}
	}
}

func (n *network) swallow(silent bool) {
	n.mu.L.Lock()
	defer n.mu.L.Unlock()
	n.silent = silent
	n.mu.Broadcast()
}
