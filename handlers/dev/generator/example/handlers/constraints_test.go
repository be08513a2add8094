package handlers_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/generator/example/handlers"
	"example.com/subproduct/handlers/handlertest"
)

// Of two fields that refer to something, or that must be unique, the one that is
// wrong is marked, and the other is not.
func TestOrderLines_TheFieldThatIsWrongIsMarkedAlone(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	customer := site.Row(t, "acme", "customers")
	there := fmt.Sprintf(firstOrderLine, customer, customer)
	if added := b.API(http.MethodPost, "/api/order-lines", there); added.Status != http.StatusCreated {
		t.Fatalf("add: %d %s", added.Status, added.Body)
	}
	for _, c := range []struct{ body, field, says string }{
		{fmt.Sprintf(secondOrderLine, customer+1, customer), "customerId", "There is no such customer."},
		{fmt.Sprintf(secondOrderLine, customer, customer+1), "agentId", "There is no such agent."},
		{strings.Replace(there, `"batch":7`, `"batch":70`, 1), "sku", "This is there already."},
		{strings.Replace(there, "First sku", "Another sku", 1), "batch", "This is there already."},
	} {
		got := b.API(http.MethodPost, "/api/order-lines", c.body)
		var problem struct{ Fields map[string]string }
		got.JSON(t, &problem)
		if want := map[string]string{c.field: c.says}; got.Status != http.StatusUnprocessableEntity || !maps.Equal(problem.Fields, want) {
			t.Errorf("%d %s, want %v", got.Status, got.Body, want)
		}
	}
}

// A name that the code does not know says as little as none, which is what Citus
// gives: then each field is marked.
func TestOrderLines_AllAreMarkedWhereItIsNotKnownWhich(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	customer := site.Row(t, "acme", "customers")
	site.TenantExec(t, "acme", `ALTER TABLE order_lines RENAME CONSTRAINT order_lines_agent_id_fkey TO renamed`)
	got := b.API(http.MethodPost, "/api/order-lines", fmt.Sprintf(firstOrderLine, customer, customer+1))
	var problem struct{ Fields map[string]string }
	got.JSON(t, &problem)
	if got.Status != http.StatusUnprocessableEntity || problem.Fields["customerId"] == "" || problem.Fields["agentId"] == "" {
		t.Errorf("%d %s, want both fields", got.Status, got.Body)
	}
}
