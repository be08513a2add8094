package server_test

import (
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A database that is stopped, in good order or by a crash, is 503 to all who come,
// and is well as soon as it is back. Who was signed in still is.
func TestOutage_ADatabaseThatIsDownIs503(t *testing.T) {
	t.Parallel()
	postgres := pgtest.NewServer(t)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: postgres.URL("postgres")})
	b := site.SignIn(t, "acme")
	for n, mode := range []string{"fast", "immediate"} {
		if err := postgres.Halt(t.Context(), mode); err != nil {
			t.Fatal(err)
		}
		if refused := everything(t, site, b, n); refused != 6 {
			t.Errorf("%s: %d of 6 were refused", mode, refused)
		}
		if err := postgres.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		awaitWell(t, site, b)
	}
}

// A machine that stands still holds no event longer than the platform waits.
// When it goes on, so do the requests that waited.
func TestOutage_AFrozenDatabaseIs503(t *testing.T) {
	t.Parallel()
	postgres := pgtest.NewServer(t)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: postgres.URL("postgres")})
	b := site.SignIn(t, "acme")
	thaw := freeze(t, site)
	began := time.Now()
	var asked sync.WaitGroup
	asked.Go(func() { apologizes(t, "page", b.Get("/items")) })
	asked.Go(func() { apologizes(t, "api, write", b.API(http.MethodPost, "/api/items", `{"label":"x"}`)) })
	wantApology(t, "event", site.Event(t, "item.suggested", "acme", nil))
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the event was answered after %v", took)
	}
	thaw()
	awaitWell(t, site, b)
	asked.Wait()
}

// freeze stops all of PostgreSQL's processes until thaw.
func freeze(t *testing.T, site *handlertest.Site) (thaw func()) {
	t.Helper()
	pids := handlertest.Query[[]int](t, site, `
		SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int || array_agg(pid)
		FROM pg_stat_activity WHERE pid <> pg_backend_pid()`)
	signal := func(s syscall.Signal) {
		for _, pid := range pids {
			_ = syscall.Kill(pid, s) // it may have ended
		}
	}
	t.Cleanup(func() { signal(syscall.SIGCONT) })
	signal(syscall.SIGSTOP)
	return func() { signal(syscall.SIGCONT) }
}

// awaitWell wants all to be served again within 5 seconds.
func awaitWell(t *testing.T, site *handlertest.Site, b *handlertest.Browser) {
	t.Helper()
	over := time.Now()
	handlertest.Await(t, "all is well", func() bool { return everything(t, site, b, int(over.UnixNano())) == 0 })
	if took := time.Since(over); took > 5*time.Second {
		t.Errorf("well after %v", took)
	}
}
