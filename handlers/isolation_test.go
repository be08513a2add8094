package handlers_test

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

	"example.com/subproduct/handlers"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/tenancy"
)

// misbehave are handlers that write and then fail in every way there is.
func misbehave(user *echo.Group, db *tenancy.DB) {
	user.POST("/api/fail/:how", func(c echo.Context) error {
		ctx := c.Request().Context()
		return db.InTx(ctx, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `INSERT INTO notes (title, created_by) VALUES ('never', 'x')`); err != nil {
				return err
			}
			switch c.Param("how") {
			case "panic":
				panic("on purpose")
			case "sql":
				_, err := tx.Exec(ctx, `SELECT nonsense FROM notes`)
				return err
			}
			return errors.New("on purpose")
		})
	})
}

// 64 clients over 20 tenants, with handlers that fail and panic mixed in: not
// one row of another tenant.
func TestNoForeignRowOverHTTP(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlertest.Setup{
		Env:   map[string]string{"DATABASE_MAX_CONNS": "8"},
		Serve: handlers.ServeOptions{Routes: misbehave},
	})
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
		if answer := b.API(http.MethodPost, "/api/notes", `{"title":"of `+slug+`"}`); answer.Status != http.StatusCreated {
			t.Errorf("%s: note: %d", slug, answer.Status)
		}
	case 1:
		how := []string{"panic", "sql", "error"}[rand.IntN(3)]
		answer := b.API(http.MethodPost, "/api/fail/"+how, "")
		if answer.Status != http.StatusInternalServerError || strings.Contains(answer.Body, "purpose") || strings.Contains(answer.Body, "nonsense") {
			t.Errorf("%s: %s: %d %s", slug, how, answer.Status, answer.Body)
		}
	default:
		var list struct{ Notes []note }
		b.API(http.MethodGet, "/api/notes", "").JSON(t, &list)
		for _, n := range list.Notes {
			if n.Title != "of "+slug {
				t.Errorf("%s sees %q", slug, n.Title)
			}
		}
	}
}
