package handlers_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/dev/generator/example/handlers"
	"example.com/subproduct/handlers/handlertest"
)

// A change, and a deletion, waits for a change that is under way, and is refused
// when that has changed what it was made for.
func TestOrderLines_ChangedMeanwhile(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	customer := site.Row(t, "acme", "customers")
	added := b.API(http.MethodPost, "/api/order-lines", fmt.Sprintf(firstOrderLine, customer, customer))
	var one struct{ ID int64 }
	added.JSON(t, &one)
	path := fmt.Sprintf("/api/order-lines/%d", one.ID)
	conn, err := pgx.Connect(t.Context(), site.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	other, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(t.Context(), `UPDATE tenant_acme.order_lines SET quantity = 1000`); err != nil {
		t.Fatal(err)
	}
	asRead := http.Header{"Content-Type": {"application/json"}, "If-Match": {added.Header.Get("ETag")}}
	answers := make(chan handlertest.Answer, 2)
	var asking sync.WaitGroup
	for _, method := range []string{http.MethodPatch, http.MethodDelete} {
		asking.Go(func() {
			answers <- b.Do(method, path, strings.NewReader(fmt.Sprintf(secondOrderLine, customer, customer)), asRead)
		})
	}
	handlertest.Await(t, "both wait", func() bool {
		return handlertest.Query[int](t, site, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 2
	})
	if err := other.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	asking.Wait()
	close(answers)
	for got := range answers {
		if got.Status != http.StatusPreconditionFailed {
			t.Errorf("%d %s, want 412", got.Status, got.Body)
		}
	}
}
