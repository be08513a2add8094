package web

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
)

// maxLimit is how many entries of a list are answered at most; maxSearch is how
// long what is searched may be, in characters.
const (
	maxLimit  = 100
	maxSearch = 200
)

// Window is the part of a list that a request asks for. Lists go by id, the
// newest first; a cursor is the id that the part before has ended with, so that
// no entry is shown twice or left out when others come.
type Window struct {
	Search string // q; empty: everything
	Before int64  // the ids to show are below it
	Limit  int
}

// ReadWindow reads limit, cursor and q of the request; size is the limit of one
// that names none, at most 100. It returns an Invalid.
func ReadWindow(c echo.Context, size int) (Window, error) {
	w := Window{Search: strings.TrimSpace(c.QueryParam("q")), Before: math.MaxInt64, Limit: size}
	wrong := Invalid{}
	var err error
	if text := c.QueryParam("limit"); text != "" {
		if w.Limit, err = strconv.Atoi(text); err != nil || w.Limit < 1 || w.Limit > maxLimit {
			wrong["limit"] = "This must be a number from 1 to 100."
		}
	}
	if text := c.QueryParam("cursor"); text != "" {
		if w.Before, err = strconv.ParseInt(text, 10, 64); err != nil || w.Before < 1 {
			wrong["cursor"] = "This must be the next of an earlier answer."
		}
	}
	if utf8.RuneCountInString(w.Search) > maxSearch || strings.ContainsRune(w.Search, 0) {
		wrong["q"] = "This must be text of up to 200 characters."
	}
	if len(wrong) > 0 {
		return w, wrong
	}
	return w, nil
}

// First reports whether the list begins with this part of it.
func (w Window) First() bool { return w.Before == math.MaxInt64 }

// Cut takes the entries that were found, of which the query asks for one more
// than Limit, and returns those to show and the cursor of the rest, which is
// empty when there is none.
func Cut[T any](w Window, found []T, id func(T) int64) (shown []T, next string) {
	if len(found) <= w.Limit {
		return found, ""
	}
	shown = found[:w.Limit]
	return shown, strconv.FormatInt(id(shown[w.Limit-1]), 10)
}

// ID is the parameter :id of the route; a text that is none is 404.
func ID(c echo.Context) (int64, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, echo.ErrNotFound
	}
	return id, nil
}
