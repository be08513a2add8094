package handlers_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"example.com/subproduct/handlers"
	"example.com/subproduct/handlers/handlertest"
)

func TestProduct_IsServed(t *testing.T) {
	t.Parallel()
	product := handlers.Product()
	site := handlertest.Start(t, product, handlertest.Setup{})
	if page := site.Browser(t).Get("/"); page.Status != http.StatusOK || !strings.Contains(html.UnescapeString(page.Body), product.Name) {
		t.Errorf("landing page: %d %s", page.Status, page.Body)
	}
	if page := site.SignIn(t, "acme").Get("/"); page.Status != http.StatusOK || !strings.Contains(page.Body, "user@acme.example") {
		t.Errorf("home: %d %s", page.Status, page.Body)
	}
}
