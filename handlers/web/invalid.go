package web

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// Invalid is what is wrong with the fields of a form or a JSON object, by their
// names. As an error it is answered 422, to a program with "fields".
type Invalid map[string]string

func (i Invalid) Error() string {
	parts := make([]string, 0, len(i))
	for _, name := range slices.Sorted(maps.Keys(i)) {
		parts = append(parts, name+": "+i[name])
	}
	return strings.Join(parts, " ")
}

func (i Invalid) problem() *Problem {
	return &Problem{Status: http.StatusUnprocessableEntity, Message: i.Error(), Fields: i}
}

// Form is what the template of a form is given: .Data.Values.title is what
// stands in the field title, .Data.Errors.title what is wrong with it.
type Form struct {
	ID     int64 // of what is changed; 0: it is new
	Values map[string]string
	Errors Invalid
	// Choices of a field that refers to something, by its name.
	Choices map[string][]Choice

	Version string // of what it shows, see For
	Changed bool   // that was changed meanwhile: Errors say to what
}

// FormOf is a form that shows what there is, ready to be changed. A nil pointer
// is an empty field.
func FormOf(id int64, fields map[string]any) Form {
	f := Form{ID: id, Values: map[string]string{}}
	for name, v := range fields {
		if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer {
			if p.IsNil() {
				continue
			}
			v = p.Elem().Interface()
		}
		if t, ok := v.(time.Time); ok {
			v = t.UTC().Format(formTime + ":05")
		}
		f.Values[name] = fmt.Sprint(v)
	}
	return f
}

// Choice is something that a form's field may refer to.
type Choice struct {
	ID    int64
	Title string
}

// Chosen is the id in a field that refers to something; 0: there is none.
func (f Form) Chosen(name string) int64 {
	id, _ := strconv.ParseInt(f.Values[name], 10, 64)
	return id
}

// Show renders the form in its page, as 422 where something is wrong with it, and
// as 409 where what it shows was changed meanwhile.
func (f Form) Show(c echo.Context, page string) error {
	status := http.StatusOK
	if f.Changed {
		status = http.StatusConflict
	} else if len(f.Errors) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return c.Render(status, page, f)
}
