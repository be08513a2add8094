package handlers

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
)

// notes has pages under /notes and a JSON API under /api/notes. What
// one of them is, and how it is kept, is in notes_data.go.
type notes struct{ db *tenancy.DB }

// Pages.

func (n notes) index(c echo.Context) error {
	page, err := n.page(c, 25)
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, "notes.html", page)
}

func (n notes) blank(c echo.Context) error { return web.Form{}.Show(c, "notes_form.html") }

func (n notes) submit(c echo.Context) error {
	in, err := web.ReadInput(c)
	if err != nil {
		return err
	}
	if _, err := n.insert(c, in); err != nil {
		return in.Again(c, "notes_form.html", err)
	}
	web.Flash(c, "The note was added.")
	return c.Redirect(http.StatusSeeOther, "/notes")
}

func (n notes) show(c echo.Context) error { return n.render(c, "notes_show.html") }

func (n notes) edit(c echo.Context) error {
	found, err := n.find(c)
	if err != nil {
		return err
	}
	return found.form().Show(c, "notes_form.html")
}

func (n notes) submitEdit(c echo.Context) error {
	in, err := web.ReadInput(c)
	if err != nil {
		return err
	}
	changed, err := n.update(c, in)
	if err != nil {
		return in.Again(c, "notes_form.html", err)
	}
	web.Flash(c, "The note was saved.")
	return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/notes/%d", changed.ID))
}

// confirm asks before a note is deleted.
func (n notes) confirm(c echo.Context) error { return n.render(c, "notes_delete.html") }

func (n notes) submitDelete(c echo.Context) error {
	if err := n.remove(c); err != nil {
		return err
	}
	web.Flash(c, "The note was deleted.")
	return c.Redirect(http.StatusSeeOther, "/notes")
}

func (n notes) render(c echo.Context, page string) error {
	found, err := n.find(c)
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, page, found)
}

// API.

func (n notes) list(c echo.Context) error {
	page, err := n.page(c, 100)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, page)
}

func (n notes) create(c echo.Context) error {
	in, err := web.ReadInput(c)
	if err != nil {
		return err
	}
	created, err := n.insert(c, in)
	if err != nil {
		return err
	}
	return web.Tagged(c, http.StatusCreated, created)
}

func (n notes) get(c echo.Context) error {
	found, err := n.find(c)
	if err != nil {
		return err
	}
	return web.Tagged(c, http.StatusOK, found)
}

func (n notes) patch(c echo.Context) error {
	in, err := web.ReadInput(c)
	if err != nil {
		return err
	}
	changed, err := n.update(c, in)
	if err != nil {
		return err
	}
	return web.Tagged(c, http.StatusOK, changed)
}

func (n notes) delete(c echo.Context) error {
	if err := n.remove(c); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
