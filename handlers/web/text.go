package web

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
)

// ValidText refuses a parameter of the path, query, form or JSON that is not
// UTF-8 with 422, and a parameter with NUL: PostgreSQL would refuse it later, and
// JSON's decoder would change it. A form that cannot be read is 400. It reads the
// whole body: LimitBody stands before it.
func ValidText(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		valid, err := validText(c)
		if err != nil {
			return err
		}
		if !valid {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, "This is not valid text: it must be UTF-8.")
		}
		return next(c)
	}
}

func validText(c echo.Context) (bool, error) {
	r := c.Request()
	if !validParams(c) {
		return false, nil
	}
	if r.URL.RawQuery != "" && !validValues(r.URL.Query()) {
		return false, nil
	}
	if r.Header.Get(echo.HeaderContentType) == "" {
		return true, nil
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	switch {
	case kind == echo.MIMEApplicationForm, strings.HasPrefix(kind, "multipart/"):
		form, err := c.FormParams()
		return validValues(form), unreadable(err)
	case kind == echo.MIMEApplicationJSON, strings.HasSuffix(kind, "+json"):
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		return utf8.Valid(body), unreadable(err)
	}
	return true, nil
}

// validParams unescapes the parameters of the path. Where a path is not spelt as
// Go would spell it, as with %2F or %c3, Echo routes by it as it came.
func validParams(c echo.Context) bool {
	params := c.ParamValues()
	for i, p := range params {
		if c.Request().URL.RawPath != "" {
			p, _ = url.PathUnescape(p) // net/http has done so with the whole path
		}
		if !utf8.ValidString(p) || strings.Contains(p, "\x00") {
			return false
		}
		params[i] = p
	}
	c.SetParamValues(params...)
	return true
}

// unreadable is the answer to a body that cannot be read; one that is too large
// has an answer already.
func unreadable(err error) error {
	if answered := (*echo.HTTPError)(nil); err == nil || errors.As(err, &answered) {
		return err
	}
	return &Problem{Status: http.StatusBadRequest, Message: "The request's body cannot be read.", Cause: err}
}

func validValues(values url.Values) bool {
	for name, all := range values {
		for _, v := range append(all, name) {
			if !utf8.ValidString(v) {
				return false
			}
		}
	}
	return true
}
