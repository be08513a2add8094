package handlers_test

import (
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/generator/example/handlers"
	"example.com/subproduct/handlers/handlertest"
)

// A form whose list is not all there is says so, at each field.
func TestOrderLines_TheFormSaysWhenThereIsMoreToChooseFrom(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	for _, c := range []struct{ customers, hints int }{{100, 0}, {101, 2}} {
		site.TenantExec(t, "acme", `
			INSERT INTO customers (name)
			SELECT 'Customer' FROM generate_series(1, $1 - (SELECT count(*) FROM customers))`, c.customers)
		page := b.Get("/order-lines/new")
		if got := strings.Count(page.Body, "Only the newest are listed: there are more than a hundred."); got != c.hints {
			t.Errorf("of %d customers: %d hints, want %d\n%s", c.customers, got, c.hints, page.Body)
		}
	}
}
