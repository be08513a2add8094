package server_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
)

// A reference or a unique value that the database defends is a conflict of the
// one who asked, unless the product has an answer of its own. A CHECK that was
// let by is a bug.
func TestErrors_WhatTheDatabaseDefendsIsAConflict(t *testing.T) {
	t.Parallel()
	product := server.Product{
		Name: "Books", Slug: "books",
		TenantSchema: fstest.MapFS{"000001_books.up.sql": {Data: []byte(`
			CREATE TABLE shelves (name text PRIMARY KEY CHECK (name <> ''));
			CREATE TABLE books (title text PRIMARY KEY, shelf text NOT NULL REFERENCES shelves);
			INSERT INTO shelves (name) VALUES ('top');
			INSERT INTO books (title, shelf) VALUES ('Emma', 'top')`)}},
		Routes: func(r server.Routes) {
			r.User.POST("/api/do", func(c echo.Context) error {
				_, err := r.DB.Exec(c.Request().Context(), c.FormValue("sql"))
				return err
			})
		},
	}
	own := product
	own.Errors = []web.ErrorAnswer{{When: tenancy.IsForeignKey, Status: http.StatusGone, Sentence: "The shelf is not empty."}}
	for _, c := range []struct {
		product server.Product
		sql     string
		status  int
		says    string
	}{
		{product, `DELETE FROM shelves WHERE name = 'top'`, http.StatusConflict, "refers to this"},
		{product, `INSERT INTO books (title, shelf) VALUES ('Persuasion', 'lost')`, http.StatusConflict, "not there"},
		{product, `INSERT INTO books (title, shelf) VALUES ('Emma', 'top')`, http.StatusConflict, "there already"},
		{product, `INSERT INTO shelves (name) VALUES ('')`, http.StatusInternalServerError, "went wrong"},
		{own, `DELETE FROM shelves WHERE name = 'top'`, http.StatusGone, "not empty"},
	} {
		b := handlertest.Start(t, c.product, handlertest.Setup{}).SignIn(t, "acme")
		if got := b.Post("/api/do", map[string][]string{"sql": {c.sql}}); got.Status != c.status || !strings.Contains(got.Body, c.says) {
			t.Errorf("%s: %d %s, want %d that says %q", c.sql, got.Status, got.Body, c.status, c.says)
		}
	}
}
