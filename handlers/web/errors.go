package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// ErrorAnswer maps an error that handlers return to a status and a sentence for
// the one who asked. An error that wraps Err is answered so too, and where When
// is given, one for which it holds.
type ErrorAnswer struct {
	Err      error
	Status   int
	Sentence string
	When     func(error) bool
}

func (a ErrorAnswer) fits(err error) bool {
	return errors.Is(err, a.Err) || a.When != nil && a.When(err)
}

// Boundary is the error boundary: the one place where an error becomes an
// answer.
type Boundary struct {
	answers    []ErrorAnswer
	showCauses bool
}

// NewBoundary returns a boundary that knows answers, of which the first that
// fits counts. Whatever is not there is 500, and its text stays in the log.
// showCauses is for development: an error page then says what the log says.
func NewBoundary(answers []ErrorAnswer, showCauses bool) *Boundary {
	return &Boundary{answers: slices.Concat(answers, ownAnswers()), showCauses: showCauses}
}

// ownAnswers are for what any handler may meet, whatever it is about.
func ownAnswers() []ErrorAnswer {
	return []ErrorAnswer{
		{Err: context.DeadlineExceeded, Status: http.StatusServiceUnavailable, Sentence: "This took too long. Try again in a moment."},
		{Err: http.ErrMissingFile, Status: http.StatusUnprocessableEntity, Sentence: "A file is missing."},
		{Err: http.ErrNotMultipart, Status: http.StatusUnsupportedMediaType, Sentence: "This takes a form with a file (multipart/form-data)."},
		{Err: http.ErrMissingBoundary, Status: http.StatusBadRequest, Sentence: "The request's body cannot be read."},
		{Err: ErrUnavailable, Status: http.StatusServiceUnavailable, Sentence: "A part of the server does not answer. Try again in a moment."},
	}
}

// Problem is the answer to an error. Nothing of an error that is not meant for
// others is in it, but for its Cause.
func (b *Boundary) Problem(err error) *Problem {
	if p := (*Problem)(nil); errors.As(err, &p) {
		return p
	}
	if i := Invalid(nil); errors.As(err, &i) {
		return i.problem()
	}
	for _, a := range b.answers {
		if a.fits(err) {
			return &Problem{Status: a.Status, Message: a.Sentence, Cause: err}
		}
	}
	if h := (*echo.HTTPError)(nil); errors.As(err, &h) {
		p := &Problem{Status: h.Code, Cause: err}
		text, ok := h.Message.(string)
		switch {
		case h.Internal != nil && h.Code == http.StatusBadRequest: // Echo's binder: text is a decoder's
			p.Message = "The request's body is not what is expected here."
		case ok && h.Code < 500 && text != http.StatusText(h.Code):
			p.Message = text
		}
		return p
	}
	return &Problem{Status: http.StatusInternalServerError, Cause: err}
}

// errorPage is what error.html is given.
type errorPage struct {
	Status         int
	Title, Message string
	Action         Action
	Fields         Invalid
	Cause          string // empty but in development
}

// retryAfter is how many seconds a client is asked to wait after a 503.
const retryAfter = "1"

// Write answers err, HTML for pages, RFC 9457 for everything that wants JSON. A
// 503 has Retry-After. It does nothing where an answer was begun already.
func (b *Boundary) Write(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := b.Problem(err)
	page := errorPage{
		Status: p.Status, Title: cmp.Or(p.Title, http.StatusText(p.Status)),
		Message: cmp.Or(p.Message, details[p.Status]), Action: p.Action, Fields: p.Fields,
	}
	if b.showCauses {
		page.Cause = err.Error()
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	if p.Status == http.StatusServiceUnavailable && c.Response().Header().Get(echo.HeaderRetryAfter) == "" {
		c.Response().Header().Set(echo.HeaderRetryAfter, retryAfter)
	}
	if c.Request().Method == http.MethodHead {
		_ = c.NoContent(p.Status)
		return
	}
	if WantsJSON(c) || c.Render(p.Status, "error.html", page) != nil {
		writeProblem(c, page)
	}
}

func writeProblem(c echo.Context, p errorPage) {
	problem := map[string]any{
		"type": "about:blank", "title": p.Title, "status": p.Status, "detail": p.Message, "requestId": RequestID(c),
	}
	if len(p.Fields) > 0 {
		problem["fields"] = p.Fields
	}
	if p.Cause != "" {
		problem["cause"] = p.Cause
	}
	body, _ := json.Marshal(problem)
	_ = c.Blob(p.Status, "application/problem+json", body)
}

// WantsJSON reports whether the request is a program's: under /api/, or asking
// for JSON and not for HTML.
func WantsJSON(c echo.Context) bool {
	accept := c.Request().Header.Get(echo.HeaderAccept)
	return strings.HasPrefix(c.Request().URL.Path, "/api/") ||
		strings.Contains(accept, "json") && !strings.Contains(accept, "text/html")
}
