package handlers_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/platform/simulator"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A server that starts against 2,000 tenants which are behind answers at once,
// and serves any one of them at once and correctly; the rest follows by itself.
func TestServingAFleetThatIsBehind(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlertest.Setup{Database: pgtest.URL(t), Env: map[string]string{"MIGRATE_ON_START": "true"}})
	for at := 0; at < 2000; at += 200 {
		site.Exec(t, fmt.Sprintf(`
			INSERT INTO public.tenants (slug, schema_version) SELECT 't' || i, 0 FROM generate_series(%[1]d, %[2]d) i;
			DO $$ BEGIN FOR i IN %[1]d..%[2]d LOOP EXECUTE 'CREATE SCHEMA tenant_t' || i; END LOOP; END $$`, at, at+199))
	}
	began := time.Now()
	replica := site.Replica(t, handlertest.Setup{}) // returns when /healthz says ok
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("healthy after %v, want within 2 s", took)
	}
	site.Platform.AddTenant("t1999", "last", "Pro", simulator.User{ID: "u-t1999", Email: "last@example.org"})
	b := replica.Browser(t)
	if answer := b.Callback("u-t1999"); answer.Status != http.StatusSeeOther {
		t.Fatalf("sign-in: %d %s", answer.Status, answer.Body)
	}
	if answer := b.API(http.MethodPost, "/api/notes", `{"title":"x"}`); answer.Status != http.StatusCreated {
		t.Errorf("note: %d %s", answer.Status, answer.Body)
	}
	behind := 2000
	for behind > 0 { // as long as there is progress: how fast is not this test's business
		before := behind
		handlertest.Await(t, "more of the rest is migrated", func() bool {
			behind = handlertest.Query[int](t, site, `SELECT count(*) FROM public.tenants WHERE schema_version = 0`)
			return behind < before
		})
	}
}
