package web

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// Input is the fields of a form or of a JSON object. Its methods read one field
// each and remember what is wrong; Err says it all at once. In a PATCH a field
// that is not there keeps its value; else it is wrong, unless it is optional.
type Input struct {
	values  map[string]value
	partial bool
	wrong   Invalid
}

// value is one field as it came; in text, JSON's null is empty.
type value struct {
	text string
	kind kind
}

type kind int

const (
	ofForm kind = iota
	ofString
	ofNumber
	ofBool
	ofOther // an array or an object
)

// ReadInput reads the body of the request. It returns an error that is answered
// 400 when the body cannot be read, and 415 when it is of another type.
func ReadInput(c echo.Context) (*Input, error) {
	r := c.Request()
	in := &Input{values: map[string]value{}, partial: r.Method == http.MethodPatch, wrong: Invalid{}}
	media, _, _ := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	switch {
	case media == echo.MIMEApplicationJSON, strings.HasSuffix(media, "+json"):
		return in, in.readJSON(r.Body)
	case media == echo.MIMEApplicationForm, media == echo.MIMEMultipartForm:
		form, err := c.FormParams()
		for name := range form {
			in.values[name] = value{text: form.Get(name)}
		}
		return in, unreadable(err)
	}
	return nil, echo.ErrUnsupportedMediaType
}

func (in *Input) readJSON(body io.Reader) error {
	content, err := io.ReadAll(body)
	if err != nil || len(content) == 0 {
		return unreadable(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(content, &fields); err != nil || fields == nil {
		return &Problem{
			Status: http.StatusBadRequest, Message: "The request's body is not what is expected here.",
			Cause: errors.Join(errors.New("no JSON object"), err),
		}
	}
	for name, raw := range fields {
		in.values[name] = jsonValue(raw)
	}
	return nil
}

func jsonValue(raw json.RawMessage) value {
	var text string
	switch raw[0] {
	case '"', 'n': // a string, or null, which leaves text empty
		_ = json.Unmarshal(raw, &text) // it has been decoded once
		return value{text, ofString}
	case 't', 'f':
		return value{string(raw), ofBool}
	case '{', '[':
		return value{"", ofOther}
	}
	return value{string(raw), ofNumber}
}

// Err is an Invalid that names every field that is wrong, or nil.
func (in *Input) Err() error {
	if len(in.wrong) == 0 {
		return nil
	}
	return in.wrong
}

// Fail says what is wrong with a field, where a reader cannot know it.
func (in *Input) Fail(name, message string) { in.wrong[name] = message }

// Again shows a form anew, as it was typed, when err is an Invalid, or IfMatch's
// of a form that has its version; it returns err when it is anything else. The
// route's :id, if it has one, is the form's.
func (in *Input) Again(c echo.Context, page string, err error) error {
	f, err := in.Anew(c, err)
	if err != nil {
		return err
	}
	return f.Show(c, page)
}

// Anew is the form that Again shows, or its error.
func (in *Input) Anew(c echo.Context, err error) (Form, error) {
	invalid, changed := Invalid(nil), (*changedError)(nil)
	id, _ := ID(c)
	f := Form{ID: id, Version: in.values[versionField].text, Values: map[string]string{}}
	for name, v := range in.values {
		f.Values[name] = v.text
	}
	switch {
	case errors.As(err, &invalid):
		f.Errors = invalid
		return f, nil
	case errors.As(err, &changed) && f.Version != "":
		return f.meanwhile(changed.current), nil
	}
	return f, err
}
