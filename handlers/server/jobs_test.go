package server_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/tenancy/commands/flags"
)

// A running server works the jobs that its requests insert, on the data of the
// tenant who asked.
func TestJobs_AreWorkedByTheServer(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Jobs: true, Env: map[string]string{"DATABASE_MAX_CONNS": "8"}})
	acme, _ := site.SignIn(t, "acme"), site.SignIn(t, "globex")
	if answer := acme.API(http.MethodPost, "/api/restock/pears", ""); answer.Status != http.StatusAccepted {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	handlertest.Await(t, "the job is done", func() bool {
		return handlertest.TenantQuery[int](t, site, "acme", `SELECT count(*) FROM items WHERE label = 'pears'`) == 1
	})
	if n := handlertest.TenantQuery[int](t, site, "globex", `SELECT count(*) FROM items`); n != 0 {
		t.Errorf("another tenant has %d items", n)
	}
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM job_schedules`); n != 1 {
		t.Errorf("%d schedules are kept, want 1", n)
	}
}

// A product without jobs starts no engine, and has no need of connections for it.
func TestJobs_NoneDeclaredStartsNothing(t *testing.T) {
	t.Parallel()
	p := fixture.Product()
	p.Jobs = nil
	site := handlertest.Start(t, p, handlertest.Setup{Jobs: true, Env: map[string]string{"DATABASE_MAX_CONNS": "6"}})
	site.SignIn(t, "acme")
	if n := handlertest.Query[int](t, site, `SELECT (SELECT count(*) FROM river_queue) + (SELECT count(*) FROM river_leader) + (SELECT count(*) FROM job_schedules)`); n != 0 {
		t.Error("an engine was started")
	}
}

// In a test, jobs run when the test says so.
func TestJobs_RunWhenATestSaysSo(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	acme := site.SignIn(t, "acme")
	site.TenantExec(t, "acme", `INSERT INTO items (label, created_by) VALUES ('untidy', 'x')`)
	for range 2 { // the second is the same job
		acme.API(http.MethodPost, "/api/restock/pears", "")
	}
	labels := func() string {
		return handlertest.TenantQuery[string](t, site, "acme", `SELECT string_agg(label, ',' ORDER BY id) FROM items`)
	}
	site.RunJobs(t)
	if got := labels(); got != "untidy,pears" {
		t.Errorf("items %s", got)
	}
	site.RunJobs(t, "tidy")
	if got := labels(); got != "pears" {
		t.Errorf("items %s", got)
	}
}

// The operator's command knows the product's schedules.
func TestJobs_TheCommand(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	c, out := commandLine(map[string]string{"DATABASE_URL": site.Database, "FIXTURE_GREETING": "Hello"})
	if err := c.Jobs(t.Context(), []string{"run", "tidy"}); err != nil || !strings.Contains(out.String(), ": 1\n") {
		t.Errorf("%q, %v", out.String(), err)
	}
	if err := c.Jobs(t.Context(), []string{"run", "restock"}); !errors.Is(err, flags.ErrUsage) || !strings.Contains(err.Error(), "[tidy]") {
		t.Errorf("%v; want what there is", err)
	}
}
