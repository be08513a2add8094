package server_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
)

type item struct{ Label string }

// misbehave are handlers that write and then fail in every way there is.
func misbehave(r server.Routes) {
	r.User.POST("/api/fail/:how", func(c echo.Context) error {
		ctx := c.Request().Context()
		return r.DB.InTx(ctx, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `INSERT INTO items (label, created_by) VALUES ('never', 'x')`); err != nil {
				return err
			}
			switch c.Param("how") {
			case "panic":
				panic("on purpose")
			case "sql":
				_, err := tx.Exec(ctx, `SELECT nonsense FROM items`)
				return err
			}
			return errors.New("on purpose")
		})
	})
}

// 64 clients over 20 tenants, with handlers that fail and panic mixed in: not
// one row of another tenant.
func TestIsolation_NoForeignRowOverHTTP(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.With(misbehave), handlertest.Setup{Env: map[string]string{"DATABASE_MAX_CONNS": "8"}})
	for i := range 20 {
		site.Subscribe(t, fmt.Sprintf("t%d", i))
	}
	var clients sync.WaitGroup
	for i := range 64 {
		slug := fmt.Sprintf("t%d", i%20)
		b := site.SignIn(t, slug)
		clients.Go(func() {
			for range 40 {
				visit(t, b, slug)
			}
		})
	}
	clients.Wait()
}

func visit(t *testing.T, b *handlertest.Browser, slug string) {
	switch rand.IntN(5) {
	case 0:
		if answer := b.API(http.MethodPost, "/api/items", `{"label":"of `+slug+`"}`); answer.Status != http.StatusCreated {
			t.Errorf("%s: note: %d", slug, answer.Status)
		}
	case 1:
		how := []string{"panic", "sql", "error"}[rand.IntN(3)]
		answer := b.API(http.MethodPost, "/api/fail/"+how, "")
		if answer.Status != http.StatusInternalServerError || strings.Contains(answer.Body, "purpose") || strings.Contains(answer.Body, "nonsense") {
			t.Errorf("%s: %s: %d %s", slug, how, answer.Status, answer.Body)
		}
	default:
		var list struct{ Items []item }
		b.API(http.MethodGet, "/api/items", "").JSON(t, &list)
		for _, n := range list.Items {
			if n.Label != "of "+slug {
				t.Errorf("%s sees %q", slug, n.Label)
			}
		}
	}
}

// The id of another tenant's row is the id of nothing.
func TestIsolation_AnotherTenantsObjectIsNotThere(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	acme, globex := site.SignIn(t, "acme"), site.SignIn(t, "globex")
	acme.API(http.MethodPost, "/api/items", `{"label":"of acme"}`)
	id := handlertest.TenantQuery[int](t, site, "acme", `SELECT id FROM items`)
	path := fmt.Sprintf("/api/items/%d", id)
	if answer := globex.API(http.MethodDelete, path, ""); answer.Status != http.StatusNotFound {
		t.Errorf("deleted by another tenant: %d, want 404", answer.Status)
	}
	if answer := acme.API(http.MethodDelete, path, ""); answer.Status != http.StatusNoContent {
		t.Errorf("deleted: %d, want 204", answer.Status)
	}
}
