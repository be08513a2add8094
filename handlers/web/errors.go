package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/tenancy"
)

// ErrUnavailable wraps failures of what this server depends on: 503.
var ErrUnavailable = errors.New("a part of the server is unavailable")

// Problem is an error whose text is meant for the one who asked. A handler that
// needs no more than a status and a sentence returns an echo.HTTPError instead.
type Problem struct {
	Status  int
	Title   string // empty: the status's own text
	Message string
	Action  Action // what to do now; optional
	Cause   error  // for the log alone
}

// Action is a link on an error page.
type Action struct{ Label, URL string }

func (p *Problem) Error() string {
	if p.Cause != nil {
		return p.Title + ": " + p.Cause.Error()
	}
	return p.Title
}

func (p *Problem) Unwrap() error { return p.Cause }

// known maps the errors that handlers return to answers. Whatever is not here
// is 500, and its text stays in the log.
var known = []struct {
	err    error
	status int
	detail string
}{
	{tenancy.ErrTenantCancelled, http.StatusForbidden, "This workspace was cancelled."},
	{tenancy.ErrSessionEnded, http.StatusUnauthorized, "Sign in first."},
	{tenancy.ErrNoTenant, http.StatusUnauthorized, "Sign in first."},
	{tenancy.ErrUnknownTenant, http.StatusServiceUnavailable, "This workspace is not ready. Try again in a moment."},
	{tenancy.ErrNotMigrated, http.StatusServiceUnavailable, "This workspace is being updated. Try again in a moment."},
	{tenancy.ErrSchemaMissing, http.StatusServiceUnavailable, "This workspace is not ready. Try again in a moment."},
	{context.DeadlineExceeded, http.StatusServiceUnavailable, "This took too long. Try again in a moment."},
	{ErrUnavailable, http.StatusServiceUnavailable, "A part of the server does not answer. Try again in a moment."},
}

// AsProblem is the answer to an error. Nothing of an error that is not meant
// for others is in it.
func AsProblem(err error) *Problem {
	if p := (*Problem)(nil); errors.As(err, &p) {
		return p
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			return &Problem{Status: k.status, Message: k.detail, Cause: err}
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

// details are what a page says where the handler said nothing.
var details = map[int]string{
	http.StatusNotFound:              "There is nothing at this address.",
	http.StatusMethodNotAllowed:      "This address does not take that kind of request.",
	http.StatusForbidden:             "This is not open to you.",
	http.StatusRequestEntityTooLarge: "That was too large.",
	http.StatusTooManyRequests:       "That was too often. Wait a moment.",
	http.StatusInternalServerError:   "Something went wrong on our side. It has been noted.",
	http.StatusServiceUnavailable:    "The server cannot answer right now. Try again in a moment.",
}

// WriteError is the error boundary: the one place where an error becomes an
// answer, HTML for pages, RFC 9457 for everything that wants JSON.
func WriteError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := *AsProblem(err)
	if p.Title == "" {
		p.Title = http.StatusText(p.Status)
	}
	if p.Message == "" {
		p.Message = details[p.Status]
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	if c.Request().Method == http.MethodHead {
		_ = c.NoContent(p.Status)
		return
	}
	if WantsJSON(c) || c.Render(p.Status, "error.html", p) != nil {
		writeProblem(c, p)
	}
}

func writeProblem(c echo.Context, p Problem) {
	body, _ := json.Marshal(map[string]any{
		"type": "about:blank", "title": p.Title, "status": p.Status, "detail": p.Message, "requestId": RequestID(c),
	})
	_ = c.Blob(p.Status, "application/problem+json", body)
}

// WantsJSON reports whether the request is a program's: under /api/, or asking
// for JSON and not for HTML.
func WantsJSON(c echo.Context) bool {
	accept := c.Request().Header.Get(echo.HeaderAccept)
	return strings.HasPrefix(c.Request().URL.Path, "/api/") ||
		strings.Contains(accept, "json") && !strings.Contains(accept, "text/html")
}
