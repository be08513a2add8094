package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/subproduct/handlers"
	"example.com/subproduct/handlers/handlertest"
)

func TestOrders_OfSeveralTables(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	if answer := b.API(http.MethodPost, "/api/orders", `{"customer":"Ada","lines":{"a":1,"b":2}}`); answer.Status != http.StatusCreated {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	if answer := b.API(http.MethodPost, "/api/orders", `{}`); answer.Status != http.StatusUnprocessableEntity {
		t.Errorf("an empty order: %d %s", answer.Status, answer.Body)
	}
	want := `{"orders":[{"id":1,"customer":"Ada","lines":2,"currency":"EUR"}]}` + "\n"
	if answer := b.Get("/api/orders"); answer.Body != want {
		t.Errorf("%s, want %s", answer.Body, want)
	}
	if page := b.Get("/orders"); page.Status != http.StatusOK || !strings.Contains(page.Body, "Ada") {
		t.Errorf("%d %s", page.Status, page.Body)
	}
}
