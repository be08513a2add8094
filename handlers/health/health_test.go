package health_test

import (
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// ask returns the health URL's status, and fails the test where the answer
// takes the second that it may not take.
func ask(t *testing.T, site *handlertest.Site) int {
	t.Helper()
	began := time.Now()
	answer := site.Browser(t).Get("/healthz")
	if took := time.Since(began); took > time.Second {
		t.Errorf("/healthz took %v", took)
	}
	return answer.Status
}

func TestHealth_Answer(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	var body map[string]string
	answer := site.Browser(t).Get("/healthz")
	answer.JSON(t, &body)
	at, err := time.Parse(time.RFC3339, body["time"])
	if answer.Status != http.StatusOK || body["status"] != "ok" || len(body) != 2 || err != nil || !strings.HasSuffix(body["time"], "Z") || time.Since(at) > time.Minute {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if answer := site.Browser(t).Get("/livez"); answer.Status != http.StatusOK {
		t.Errorf("/livez: %d", answer.Status)
	}
}

func TestHealth_ADatabaseThatIsDownAndComesBack(t *testing.T) {
	t.Parallel()
	server := pgtest.NewServer(t)
	var log handlertest.Log
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: server.URL("postgres"), Log: &log})
	if err := server.Halt(t.Context(), "immediate"); err != nil {
		t.Fatal(err)
	}
	handlertest.Await(t, "it is unhealthy", func() bool { return ask(t, site) == http.StatusServiceUnavailable })
	answer := site.Browser(t).Get("/healthz")
	if !strings.Contains(answer.Body, `"status":"unavailable"`) {
		t.Errorf("body is %s", answer.Body)
	}
	if answer := site.Browser(t).Get("/livez"); answer.Status != http.StatusOK {
		t.Errorf("/livez without a database: %d", answer.Status)
	}
	if err := server.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	handlertest.Await(t, "it is healthy again", func() bool { return ask(t, site) == http.StatusOK })
	handlertest.Await(t, "the log says so", func() bool { return strings.Contains(log.String(), "the database is available again") })
	if n := strings.Count(log.String(), "the database is unavailable"); n != 1 {
		t.Errorf("the log says %d times that it is not, want once", n)
	}
}

func TestHealth_ADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	p := newProxy(t, pgtest.URL(t))
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: p.url})
	p.gate.Lock()
	defer p.gate.Unlock()
	handlertest.Await(t, "it is unhealthy", func() bool { return ask(t, site) == http.StatusServiceUnavailable })
}

func TestHealth_APoolThatIsUsedUpIsNoReasonToBeUnhealthy(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hold := func(r server.Routes) {
		r.User.GET("/api/hold", func(c echo.Context) error {
			return r.DB.InTx(c.Request().Context(), func(pgx.Tx) error { <-release; return nil })
		})
	}
	site := handlertest.Start(t, fixture.With(hold), handlertest.Setup{Serve: server.Options{Database: func(o *tenancy.Options) { o.MaxConns = 1 }}})
	b := site.SignIn(t, "acme")
	var held sync.WaitGroup
	held.Go(func() { b.Get("/api/hold") })
	defer held.Wait()
	defer close(release)
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		if got := ask(t, site); got != http.StatusOK {
			t.Fatalf("%d while the pool is used up, want 200", got)
		}
	}
}

// proxy stands between the server and PostgreSQL; while its gate is locked
// nothing passes, and no connection ends.
type proxy struct {
	url  string
	gate sync.RWMutex
}

func newProxy(t *testing.T, target string) *proxy {
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	behind := filepath.Join(query.Get("host"), ".s.PGSQL."+query.Get("port"))
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	query.Set("host", dir)
	query.Set("port", "5432")
	u.RawQuery = query.Encode()
	p := &proxy{url: u.String()}
	go func() {
		for {
			front, err := l.Accept()
			if err != nil {
				return
			}
			back, err := net.Dial("unix", behind)
			if err != nil {
				front.Close()
				return
			}
			go p.copy(front, back)
			go p.copy(back, front)
		}
	}()
	return p
}

func (p *proxy) copy(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.gate.RLock()
		_, writeErr := to.Write(buffer[:n])
		p.gate.RUnlock()
		if err != nil || writeErr != nil {
			return
		}
	}
}
