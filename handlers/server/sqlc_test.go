package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/handlertest/fixture/queries"
	"example.com/subproduct/handlers/server"
)

// What sqlc generates takes the DB and the tx as they are.
func TestSqlc_ItsCodeRunsOnTheDBAndInATx(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.With(func(r server.Routes) {
		r.User.POST("/api/older", func(c echo.Context) error {
			ctx, q := c.Request().Context(), queries.New(r.DB)
			items, err := q.ItemsBefore(ctx, pgtype.Timestamptz{Time: time.Now().Add(time.Hour), Valid: true})
			if err != nil {
				return err
			}
			err = r.DB.InTx(ctx, func(tx pgx.Tx) error {
				_, err := q.WithTx(tx).RenameItem(ctx, queries.RenameItemParams{ID: items[0].ID, Label: "old " + items[0].Label})
				return err
			})
			if err != nil {
				return err
			}
			return c.NoContent(http.StatusOK)
		})
	}), handlertest.Setup{})
	for _, slug := range []string{"acme", "globex"} {
		b := site.SignIn(t, slug)
		b.API(http.MethodPost, "/api/items", `{"label":"bread of `+slug+`"}`)
		if answer := b.API(http.MethodPost, "/api/older", ""); answer.Status != http.StatusOK {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
		if answer := b.Get("/api/items"); !strings.Contains(answer.Body, `"old bread of `+slug+`"`) {
			t.Errorf("%s: %s", slug, answer.Body)
		}
	}
}

// Nor does the suite refuse it, whose driver packages are types alone.
func TestArchitecture_SqlcsCodeIsLetBy(t *testing.T) {
	t.Parallel()
	packages := listed(t, "./handlers/handlertest/fixture/queries")
	p := packages[module+"/handlers/handlertest/fixture/queries"]
	if len(p.GoFiles) != 3 {
		t.Fatalf("files %v", p.GoFiles)
	}
	for _, found := range pastInTx(t, packages, p) {
		t.Error(found)
	}
	for path, want := range map[string]bool{
		"github.com/jackc/pgx/v5": false, "github.com/jackc/pgx/v5/pgconn": false, "github.com/jackc/pgx/v5/pgtype": false,
		"github.com/jackc/pgx/v5/pgxpool": true, "github.com/jackc/pgx/v5/stdlib": true, "database/sql": true,
	} {
		if got := opensConnections(path); got != want {
			t.Errorf("%s: refused %v, want %v", path, got, want)
		}
	}
}
