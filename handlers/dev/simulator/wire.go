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
	"strings"
)

// maxInput bounds what the simulator reads of a request: an event that is too
// large for any product fits.
const maxInput = 16 << 20

// decode reads a request's JSON object, or a form with the same names, into
// the struct that in points to. The body tells which of the two it is: curl
// calls everything a form. Its errors are ErrInvalid.
func decode(w http.ResponseWriter, r *http.Request, in any) error {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxInput))
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	isObject := bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))
	if err == nil && kind == "application/x-www-form-urlencoded" && !isObject {
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

// decodeJSON refuses unknown names: a misspelt one must not pass for an omitted
// one.
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
		value, kind := strings.TrimSpace(form.Get(name)), t.Field(i).Type.Kind()
		switch {
		case !form.Has(name) || kind == reflect.Int && value == "":
		case kind == reflect.Bool:
			object[name] = value == "on" || value == "true"
		case kind == reflect.Int:
			object[name] = json.Number(value)
		default:
			object[name] = form.Get(name)
		}
	}
	return json.Marshal(object)
}

// wantsPage tells a browser's form from a program.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// visit is a result after which a browser is signed in at the platform as the
// user and goes on to the product.
type visit struct {
	User string `json:"user"`
	URL  string `json:"url,omitempty"`
}

func (v visit) next() visit { return v }

// nothing is the input of a call that takes none, and the result of one that
// has none.
type nothing struct{}

// endpoint is the handler of one call: its input as JSON or a form, its result
// as answer writes it.
func endpoint[In, Out any](p *Platform, do func(*http.Request, In) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in In
		var out Out
		err := decode(w, r, &in)
		if err == nil {
			out, err = do(r, in)
		}
		p.answer(w, r, out, err)
	}
}

// action is an endpoint that takes nothing and gives nothing.
func action(p *Platform, do func()) http.HandlerFunc {
	return endpoint(p, func(*http.Request, nothing) (none nothing, _ error) { do(); return none, nil })
}

// answer ends a call. A program gets the result or the error as JSON; a browser
// goes back to the page that it was on, to the product, or to an error page.
func (p *Platform) answer(w http.ResponseWriter, r *http.Request, result any, err error) {
	if err != nil {
		p.answerError(w, r, err)
		return
	}
	back := "/"
	if from, err := url.Parse(r.Referer()); err == nil && from.Host == r.Host {
		back = from.RequestURI()
	}
	if v, ok := result.(interface{ next() visit }); ok && v.next().URL != "" {
		p.signIn(w, v.next().User)
		back = v.next().URL
	}
	if wantsPage(r) {
		http.Redirect(w, r, back, http.StatusSeeOther)
		return
	}
	writeJSON(w, http.StatusOK, result)
}

func (p *Platform) answerError(w http.ResponseWriter, r *http.Request, err error) {
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
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(value)
}

// refuse answers with an error of the simulator's own shape.
func refuse(w http.ResponseWriter, status int, code, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]string{"code": code, "message": message}})
}
