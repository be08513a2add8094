package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// maxInput bounds what the simulator reads of a request: an event that is too
// large for any product fits.
const maxInput = 16 << 20

// decode reads a request's JSON object, or a form with the same names, into
// the struct that in points to. Which of the two it is shows in the body: curl
// calls everything a form. Its errors are ErrInvalid.
func decode(w http.ResponseWriter, r *http.Request, in any) error {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxInput))
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if isForm := kind == "application/x-www-form-urlencoded"; err == nil && isForm && !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		var form url.Values
		if form, err = url.ParseQuery(string(text)); err == nil {
			text, err = formJSON(form, reflect.TypeOf(in).Elem())
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return decodeJSON(text, in)
}

// decodeJSON refuses names that mean nothing: a misspelt one must not pass for
// an omitted one.
func decodeJSON(text []byte, in any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(in); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// formJSON writes a form as the JSON object that the struct type reads.
func formJSON(form url.Values, t reflect.Type) ([]byte, error) {
	object := map[string]any{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if !form.Has(name) {
			continue
		}
		value := form.Get(name)
		switch field := t.Field(i).Type; {
		case field.Kind() == reflect.Bool:
			object[name] = value == "on" || value == "true"
		case field.Kind() == reflect.Int && value != "":
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil {
				return nil, fmt.Errorf("%s is to be a number", name)
			}
			object[name] = n
		case field.Kind() == reflect.String, field == reflect.TypeFor[*string](), field == reflect.TypeFor[time.Duration]():
			object[name] = value
		}
	}
	return json.Marshal(object)
}

// wantsPage tells a browser's form from a program.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// reply ends a request that did something: a browser goes back to the page that
// it was on, a program gets the result.
func (p *Platform) reply(w http.ResponseWriter, r *http.Request, status int, result any) {
	if !wantsPage(r) {
		writeJSON(w, status, result)
		return
	}
	back := "/"
	if from, err := url.Parse(r.Referer()); err == nil && from.Host == r.Host {
		back = from.RequestURI()
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
}

// endpoint is the handler of one call: its input as JSON or a form, its result
// as JSON or, for a browser, the way back.
func endpoint[In, Out any](p *Platform, do func(*http.Request, In) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in In
		if _, none := any(in).(nothing); !none {
			if err := decode(w, r, &in); err != nil {
				p.replyError(w, r, err)
				return
			}
		}
		out, err := do(r, in)
		if err != nil {
			p.replyError(w, r, err)
			return
		}
		p.reply(w, r, http.StatusOK, out)
	}
}

// nothing is the input of a call that takes none.
type nothing struct{}

// replyError says what was wrong with the request, as a page or as JSON.
func (p *Platform) replyError(w http.ResponseWriter, r *http.Request, err error) {
	status, code := http.StatusInternalServerError, "failed"
	switch {
	case errors.Is(err, errDenied):
		status, code = http.StatusUnauthorized, "denied"
	case errors.Is(err, ErrUnknown):
		status, code = http.StatusNotFound, "unknown"
	case errors.Is(err, ErrInvalid):
		status, code = http.StatusUnprocessableEntity, "invalid"
	}
	if wantsPage(r) {
		p.fail(w, r, status, "That did not work", err)
		return
	}
	refuse(w, status, code, problem(err))
}

// writeJSON answers with a document; a client that has gone is no error here.
func writeJSON(w http.ResponseWriter, status int, value any) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		http.Error(w, "cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(text, '\n'))
}

// refuse answers with an error of the simulator's own shape.
func refuse(w http.ResponseWriter, status int, code, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]string{"code": code, "message": message}})
}
