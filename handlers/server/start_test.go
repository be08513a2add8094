package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// administrate runs SQL as the databases' owner.
func administrate(t *testing.T, database, sql string) {
	t.Helper()
	(&handlertest.Site{Database: pgtest.Admin(t, database)}).Exec(t, sql)
}

// as is the URL for another login.
func as(t *testing.T, database, role string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "x")
	return u.String()
}

// A pooler that would break nine requests in ten ends the start, with the
// setting that mends it; with the setting the server starts.
func TestStart_APoolerInTheWrongMode(t *testing.T) {
	t.Parallel()
	right := pgtest.Pooler(t, pgtest.URL(t))
	wrong := strings.Replace(right, "default_query_exec_mode=exec&", "", 1)
	p := startProcess(t, wrong)
	if code := p.exit(t, 20*time.Second); code != 1 || !strings.Contains(p.text(), "cannot start") ||
		!strings.Contains(p.text(), "cache_statement") || !strings.Contains(p.text(), "add default_query_exec_mode=exec to the query of DATABASE_URL") {
		t.Errorf("exit %d", code)
	}
	startProcess(t, right).awaitStatus(t, "/readyz", http.StatusOK)
}

// A login that cannot make tenants ends the start, with the GRANT that lets it.
func TestStart_WithoutTheRightToMakeTenants(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	administrate(t, database, `CREATE ROLE start_plain LOGIN PASSWORD 'x'; GRANT CREATE ON SCHEMA public TO start_plain`)
	t.Cleanup(func() { administrate(t, database, `DROP OWNED BY start_plain; DROP ROLE start_plain`) })
	p := startProcess(t, as(t, database, "start_plain"))
	if code := p.exit(t, 20*time.Second); code != 1 {
		t.Errorf("exit %d", code)
	}
	administrate(t, database, p.match(t, `(GRANT CREATE ON DATABASE \w+ TO \w+)`))
	startProcess(t, as(t, database, "start_plain")).awaitStatus(t, "/readyz", http.StatusOK)
}

// Where migrating is left to an operator, so is this; a start says it.
func TestStart_FunctionsThatCouldBePlantedAreNamedWithoutMigrating(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	startProcess(t, database).awaitStatus(t, "/readyz", http.StatusOK) // which migrates
	administrate(t, database, `GRANT CREATE ON SCHEMA public TO PUBLIC`)
	p := startProcess(t, database, "MIGRATE_ON_START=false")
	p.awaitStatus(t, "/readyz", http.StatusOK)
	p.match(t, `"statement":"REVOKE CREATE ON SCHEMA public FROM PUBLIC"`)
}

// A database that is read-only for a while, as in a failover, is waited for.
func TestStart_AReadOnlyDatabaseIsWaitedFor(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	const set = `DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET default_transaction_read_only = `
	administrate(t, database, set+`on'; END $$`)
	p := startProcess(t, database)
	p.match(t, `waiting for the database.*read-only`)
	if got := status(p.url + "/healthz"); got != http.StatusServiceUnavailable {
		t.Errorf("/healthz: %d", got)
	}
	administrate(t, database+"&default_transaction_read_only=off", set+`off'; END $$`)
	p.awaitStatus(t, "/healthz", http.StatusOK)
}

// A request that comes before the shared schema is there waits for it; one that
// waits in vain is told to come again. The log has the wait's beginning and end.
func TestStart_RequestsWaitForTheSharedSchema(t *testing.T) {
	t.Parallel()
	postgres := pgtest.NewServer(t)
	if err := postgres.Halt(t.Context(), "fast"); err != nil {
		t.Fatal(err)
	}
	p := startProcess(t, postgres.URL("postgres"))
	p.match(t, "waiting for the database")
	began := time.Now()
	request, err := signed(p.url, `{"eventType":"subscription.created","tenantSlug":"acme"}`)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if took := time.Since(began); response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" || took < 3*time.Second || took > 5*time.Second {
		t.Errorf("an event: %d after %v, Retry-After %q", response.StatusCode, took, response.Header.Get("Retry-After"))
	}
	answer := make(chan int)
	go func() { answer <- status(p.url + "/") }()
	if err := postgres.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-answer; got != http.StatusOK {
		t.Errorf("a page: %d", got)
	}
	p.match(t, `"the database is there","after_ms":[3-9]\d{3}`)
	if n := strings.Count(p.text(), "waiting for the database"); n != 1 {
		t.Errorf("%d lines say that it waits; one tells an operator", n)
	}
}
