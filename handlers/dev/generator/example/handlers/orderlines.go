package handlers

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
)

// orderLines has pages under /order-lines and a JSON API under /api/order-lines. What
// one of them is, and how it is kept, is in orderlines_data.go.
type orderLines struct{ db *tenancy.DB }

// Pages.

func (o orderLines) index(c echo.Context) error {
	page, err := o.page(c, 25)
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, "orderlines.html", page)
}

func (o orderLines) blank(c echo.Context) error { return o.ask(c, web.Form{}, nil) }

func (o orderLines) submit(c echo.Context) error {
	in, err := web.ReadInput(c)
	if err != nil {
		return err
	}
	if _, err := o.insert(c, in); err != nil {
		form, err := in.Anew(c, err)
		return o.ask(c, form, err)
	}
	web.Flash(c, "The order line was added.")
	return c.Redirect(http.StatusSeeOther, "/order-lines")
}

func (o orderLines) show(c echo.Context) error { return o.render(c, "orderlines_show.html") }

func (o orderLines) edit(c echo.Context) error {
	found, err := o.find(c)
	if err != nil {
		return err
	}
	return o.ask(c, found.form(), nil)
}

func (o orderLines) submitEdit(c echo.Context) error {
	in, err := web.ReadInput(c)
	if err != nil {
		return err
	}
	changed, err := o.update(c, in)
	if err != nil {
		form, err := in.Anew(c, err)
		return o.ask(c, form, err)
	}
	web.Flash(c, "The order line was saved.")
	return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/order-lines/%d", changed.ID))
}

// ask shows the form, with what there is to choose from.
func (o orderLines) ask(c echo.Context, form web.Form, err error) error {
	if err == nil {
		err = o.choose(c, &form)
	}
	if err != nil {
		return err
	}
	return form.Show(c, "orderlines_form.html")
}

// confirm asks before a order line is deleted.
func (o orderLines) confirm(c echo.Context) error { return o.render(c, "orderlines_delete.html") }

func (o orderLines) submitDelete(c echo.Context) error {
	if err := o.remove(c); err != nil {
		return err
	}
	web.Flash(c, "The order line was deleted.")
	return c.Redirect(http.StatusSeeOther, "/order-lines")
}

func (o orderLines) render(c echo.Context, page string) error {
	found, err := o.find(c)
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, page, found)
}

// API.

func (o orderLines) list(c echo.Context) error {
	page, err := o.page(c, 100)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, page)
}

func (o orderLines) create(c echo.Context) error {
	in, err := web.ReadInput(c)
	if err != nil {
		return err
	}
	created, err := o.insert(c, in)
	if err != nil {
		return err
	}
	return web.Tagged(c, http.StatusCreated, created)
}

func (o orderLines) get(c echo.Context) error {
	found, err := o.find(c)
	if err != nil {
		return err
	}
	return web.Tagged(c, http.StatusOK, found)
}

func (o orderLines) patch(c echo.Context) error {
	in, err := web.ReadInput(c)
	if err != nil {
		return err
	}
	changed, err := o.update(c, in)
	if err != nil {
		return err
	}
	return web.Tagged(c, http.StatusOK, changed)
}

func (o orderLines) delete(c echo.Context) error {
	if err := o.remove(c); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
