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
// one who asked, and a value that a column does not take is theirs to mend, unless
// the product has an answer of its own. Nothing of the database's words is shown.
func TestErrors_WhatTheDatabaseDefendsIsNoFaultOfTheServer(t *testing.T) {
	t.Parallel()
	product := server.Product{
		Name: "Books", Slug: "books",
		TenantSchema: fstest.MapFS{"000001_books.up.sql": {Data: []byte(`
			CREATE TABLE shelves (name text PRIMARY KEY CHECK (name <> ''));
			CREATE TABLE books (title varchar(20) PRIMARY KEY, shelf text NOT NULL REFERENCES shelves, pages integer, price numeric(4,2));
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
	plain := handlertest.Start(t, product, handlertest.Setup{}).SignIn(t, "acme")
	told := handlertest.Start(t, own, handlertest.Setup{}).SignIn(t, "acme")
	for _, c := range []struct {
		browser *handlertest.Browser
		sql     string
		status  int
		says    string
	}{
		{plain, `DELETE FROM shelves WHERE name = 'top'`, http.StatusConflict, "refers to this"},
		{plain, `INSERT INTO books (title, shelf) VALUES ('Persuasion', 'lost')`, http.StatusConflict, "not there"},
		{plain, `INSERT INTO books (title, shelf) VALUES ('Emma', 'top')`, http.StatusConflict, "there already"},
		{plain, `INSERT INTO shelves (name) VALUES ('')`, http.StatusUnprocessableEntity, "A value is not allowed here."},
		{plain, `INSERT INTO books (title, shelf) VALUES (repeat('x', 21), 'top')`, http.StatusUnprocessableEntity, "not allowed"},
		{plain, `INSERT INTO books (title) VALUES ('Persuasion')`, http.StatusUnprocessableEntity, "not allowed"},
		{plain, `UPDATE books SET price = 100`, http.StatusUnprocessableEntity, "not allowed"},
		{plain, `UPDATE books SET pages = 3000000000`, http.StatusUnprocessableEntity, "not allowed"},
		{plain, `UPDATE books SET author = 'Austen'`, http.StatusInternalServerError, "went wrong"},
		{told, `DELETE FROM shelves WHERE name = 'top'`, http.StatusGone, "not empty"},
	} {
		if got := c.browser.Post("/api/do", map[string][]string{"sql": {c.sql}}); got.Status != c.status || !strings.Contains(got.Body, c.says) || strings.Contains(got.Body, "SQLSTATE") {
			t.Errorf("%s: %d %s, want %d that says %q", c.sql, got.Status, got.Body, c.status, c.says)
		}
	}
}
