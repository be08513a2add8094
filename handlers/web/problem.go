package web

import (
	"cmp"
	"errors"
	"net/http"
)

// ErrUnavailable wraps failures of what this server depends on: 503.
var ErrUnavailable = errors.New("a part of the server is unavailable")

// Problem is an error whose text is meant for the one who asked. A handler that
// needs no more than a status and a sentence returns an echo.HTTPError instead.
type Problem struct {
	Status  int
	Title   string // empty: the status's own text
	Message string
	Action  Action  // what to do now; optional
	Fields  Invalid // what is wrong with which field; optional
	Cause   error   // for the log alone
}

// Action is a link on an error page.
type Action struct{ Label, URL string }

func (p *Problem) Error() string {
	switch {
	case p.Cause == nil:
		return cmp.Or(p.Title, p.Message)
	case p.Title == "":
		return p.Cause.Error()
	}
	return p.Title + ": " + p.Cause.Error()
}

func (p *Problem) Unwrap() error { return p.Cause }

// details are what a page says where the handler said nothing.
var details = map[int]string{
	http.StatusNotFound:              "There is nothing at this address.",
	http.StatusMethodNotAllowed:      "This address does not take that kind of request.",
	http.StatusForbidden:             "This is not open to you.",
	http.StatusRequestEntityTooLarge: "That was too large.",
	http.StatusUnsupportedMediaType:  "This address does not take a body of that type.",
	http.StatusTooManyRequests:       "That was too often. Wait a moment.",
	http.StatusInternalServerError:   "Something went wrong on our side. It has been noted.",
	http.StatusServiceUnavailable:    "The server cannot answer right now. Try again in a moment.",
}
