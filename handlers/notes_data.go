package handlers

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/session"
	"example.com/subproduct/handlers/web"
)

type note struct {
	ID        int64     `json:"id"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"createdAt"`
}

// notesPage is a part of the list, the newest first.
type notesPage struct {
	Notes  []note     `json:"notes"`
	Next   string     `json:"next,omitempty"` // the cursor of the rest; empty: this is the end
	Window web.Window `json:"-"`
}

var errNoNote = errors.New("there is no such note")

// read takes over what a form or JSON says. It returns a web.Invalid that names
// every field that is wrong.
func (n *note) read(in *web.Input) error {
	in.Text(&n.Title, "title", 200)
	return in.Err()
}

// form is the form that changes it.
func (n note) form() web.Form {
	return web.FormOf(n.ID, map[string]any{"title": n.Title}).For(n)
}

// Data. In these statements notes is the table of the tenant who is signed
// in, and of nobody else.

const noteColumns = `id, title, created_at`

// oneNote reads the one row of a query. It returns errNoNote when there is none.
func oneNote(rows pgx.Rows, err error) (found note, _ error) {
	if err == nil {
		found, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[note])
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return found, errNoNote
	}
	return found, err
}

func (n notes) page(c echo.Context, size int) (page notesPage, err error) {
	window, err := web.ReadWindow(c, size)
	if err != nil {
		return page, err
	}
	rows, err := n.db.Query(c.Request().Context(), `
		SELECT `+noteColumns+` FROM notes
		WHERE id < $1 AND strpos(lower(title), lower($2)) > 0
		ORDER BY id DESC LIMIT $3`, window.Before, window.Search, window.Limit+1)
	if err != nil {
		return page, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[note])
	page.Window = window
	page.Notes, page.Next = web.Cut(window, found, func(n note) int64 { return n.ID })
	return page, err
}

func (n notes) find(c echo.Context) (note, error) {
	id, err := web.ID(c)
	if err != nil {
		return note{}, err
	}
	return oneNote(n.db.Query(c.Request().Context(), `SELECT `+noteColumns+` FROM notes WHERE id = $1`, id))
}

func (n notes) insert(c echo.Context, in *web.Input) (note, error) {
	var given note
	if err := given.read(in); err != nil {
		return given, err
	}
	ctx := c.Request().Context()
	user, _ := session.From(ctx)
	return oneNote(n.db.Query(ctx, `
		INSERT INTO notes (title, created_by)
		VALUES ($1, $2) RETURNING `+noteColumns,
		given.Title, user.ID))
}

func (n notes) update(c echo.Context, in *web.Input) (changed note, err error) {
	id, err := web.ID(c)
	if err != nil {
		return changed, err
	}
	ctx := c.Request().Context()
	err = n.db.InTx(ctx, func(tx pgx.Tx) error {
		found, err := oneNote(tx.Query(ctx, `SELECT `+noteColumns+` FROM notes WHERE id = $1 FOR UPDATE`, id))
		if err == nil {
			err = web.IfMatch(c, found)
		}
		if err == nil {
			err = found.read(in)
		}
		if err != nil {
			return err
		}
		changed, err = oneNote(tx.Query(ctx, `
			UPDATE notes SET title = $1
			WHERE id = $2 RETURNING `+noteColumns, found.Title, id))
		return err
	})
	return changed, err
}

func (n notes) remove(c echo.Context) error {
	id, err := web.ID(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	return n.db.InTx(ctx, func(tx pgx.Tx) error {
		removed, err := oneNote(tx.Query(ctx, `DELETE FROM notes WHERE id = $1 RETURNING `+noteColumns, id))
		if err == nil {
			err = web.IfMatch(c, removed) // its error undoes the statement
		}
		return err
	})
}
