package ops_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// With both hosts in DATABASE_URL, as README.md has it, a standby that is promoted
// is served from within 5 seconds. Who was signed in still is; until then the
// answer is 503.
func TestFailover_ThePromotedStandbyIsServedFrom(t *testing.T) {
	t.Parallel()
	primary, folder := pgtest.NewServer(t), shared(t)
	first := primary.URL("postgres")
	both := at(t, first, map[string]string{"host": "%s," + folder, "port": "%s,5433", "target_session_attrs": "read-write"})
	standby := at(t, first, map[string]string{"host": folder, "port": "5433"})
	newHarness(t, "DIRECT="+first, "LISTEN=-p 5433 -c max_connections=300 -c listen_addresses= -c unix_socket_directories="+folder).asPostgres(t, folder).run(t, `
		pg_basebackup --dbname="$DIRECT" --checkpoint=fast --write-recovery-conf --pgdata=restored
		pg_ctl start --wait --pgdata=restored --log=restored.log --options="$LISTEN"
		`)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: first, Env: map[string]string{"DATABASE_URL": both}})
	b := site.SignIn(t, "acme")
	addItem(t, b, "before")
	handlertest.Await(t, "the standby has it all", func() bool {
		return handlertest.Query[int](t, site, `SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()`) == 1
	})
	if err := primary.Halt(t.Context(), "immediate"); err != nil {
		t.Fatal(err)
	}
	if answer := b.Get("/items"); answer.Status != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
		t.Errorf("before the promotion: %d", answer.Status)
	}
	(&handlertest.Site{Database: standby}).Exec(t, `SELECT pg_promote()`)
	promoted := time.Now()
	handlertest.Await(t, "it is served from", func() bool {
		return b.API(http.MethodPost, "/api/items", `{"label":"after"}`).Status == http.StatusCreated
	})
	handlertest.Await(t, "it is healthy", func() bool { return b.Get("/healthz").Status == http.StatusOK })
	if took := time.Since(promoted); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	wantItems(t, b, "before", "after")
}

// at is the address with other values in its query; %s is the one that was there.
func at(t *testing.T, address string, values map[string]string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for name, value := range values {
		q.Set(name, strings.Replace(value, "%s", q.Get(name), 1))
	}
	u.RawQuery = q.Encode()
	return u.String()
}
