package handlers

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/session"
	"example.com/subproduct/tenancy"
)

// notes is the sample business resource, the thing to copy: this file, its
// test, templates/notes.html, a migration in schema/tenant and its lines in
// routes.go and errors.go.
type notes struct{ db *tenancy.DB }

type note struct {
	ID        int64     `json:"id"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"createdAt"`
}

const maxTitle = 200

var (
	errNoNote   = errors.New("there is no such note")
	errBadTitle = errors.New("the title is empty or too long")
)

// Pages.

type notesPage struct {
	Notes        []note
	Title, Error string
}

func (n notes) page(c echo.Context) error { return n.render(c, http.StatusOK, notesPage{}) }

func (n notes) render(c echo.Context, status int, p notesPage) (err error) {
	if p.Notes, err = n.newest(c.Request().Context()); err != nil {
		return err
	}
	return c.Render(status, "notes.html", p)
}

func (n notes) submit(c echo.Context) error {
	title := c.FormValue("title")
	_, err := n.insert(c.Request().Context(), title)
	if errors.Is(err, errBadTitle) {
		return n.render(c, http.StatusUnprocessableEntity, notesPage{Title: title, Error: "A title has 1 to 200 characters."})
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/notes")
}

func (n notes) submitDelete(c echo.Context) error {
	if err := n.remove(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/notes")
}

// API.

func (n notes) list(c echo.Context) error {
	found, err := n.newest(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string][]note{"notes": found})
}

func (n notes) create(c echo.Context) error {
	var in struct{ Title string }
	if err := c.Bind(&in); err != nil {
		return err
	}
	created, err := n.insert(c.Request().Context(), in.Title)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, created)
}

func (n notes) delete(c echo.Context) error {
	if err := n.remove(c); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// Data. Every query runs in InTx: there, notes is the table of the tenant who
// is signed in, and of nobody else.

func (n notes) newest(ctx context.Context) (found []note, err error) {
	err = n.db.InTx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT id, title, created_at FROM notes ORDER BY id DESC LIMIT 100`)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[note])
		return err
	})
	return found, err
}

func (n notes) insert(ctx context.Context, title string) (created note, err error) {
	if title = strings.TrimSpace(title); title == "" || utf8.RuneCountInString(title) > maxTitle || strings.ContainsRune(title, 0) {
		return note{}, errBadTitle
	}
	user, _ := session.From(ctx)
	err = n.db.InTx(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `INSERT INTO notes (title, created_by) VALUES ($1, $2) RETURNING id, title, created_at`,
			title, user.ID).Scan(&created.ID, &created.Title, &created.CreatedAt)
	})
	return created, err
}

func (n notes) remove(c echo.Context) error {
	var id int64
	if echo.PathParamsBinder(c).MustInt64("id", &id).BindError() != nil {
		return errNoNote
	}
	ctx := c.Request().Context()
	return n.db.InTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `DELETE FROM notes WHERE id = $1`, id)
		if err == nil && tag.RowsAffected() == 0 {
			return errNoNote
		}
		return err
	})
}
