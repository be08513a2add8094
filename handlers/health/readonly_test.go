package health_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A primary that became read-only is as bad as one that is down, on connections
// that are open too; a balancer still has somewhere to send requests.
func TestHealth_ADatabaseThatBecomesReadOnly(t *testing.T) {
	t.Parallel()
	server := pgtest.NewServer(t)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: server.URL("postgres")})
	set := func(value string) {
		site.Exec(t, `ALTER SYSTEM SET default_transaction_read_only = `+value)
		site.Exec(t, `SELECT pg_reload_conf()`)
	}
	set("on")
	handlertest.Await(t, "it is unhealthy", func() bool { return ask(t, site) == http.StatusServiceUnavailable })
	if answer := site.Browser(t).Get("/healthz"); !strings.Contains(answer.Body, `"status":"unavailable"`) {
		t.Errorf("body is %s", answer.Body)
	}
	if answer := site.Browser(t).Get("/readyz"); answer.Status != http.StatusOK {
		t.Errorf("/readyz: %d", answer.Status)
	}
	set("off")
	handlertest.Await(t, "it is healthy again", func() bool { return ask(t, site) == http.StatusOK })
}
