package web

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// needed is what is said of a field that is not there, or empty.
const needed = "This is required."

// take is a field's text, trimmed. It is not ok when there is nothing to read:
// then the value stays as it is, or the field is wrong.
func (in *Input) take(name, what string, kinds ...kind) (text string, ok bool) {
	v, given := in.values[name]
	text = strings.TrimSpace(v.text)
	switch {
	case !given && in.partial:
		return "", false
	case v.kind == ofForm || slices.Contains(kinds, v.kind), text == "" && v.kind == ofString:
	default:
		in.Fail(name, what)
		return "", false
	}
	if text == "" {
		in.Fail(name, needed)
	}
	return text, text != ""
}

// Text reads 1 to most characters.
func (in *Input) Text(into *string, name string, most int) {
	what := fmt.Sprintf("This must be text of 1 to %d characters.", most)
	text, ok := in.take(name, what, ofString)
	if !ok {
		return
	}
	text = strings.ReplaceAll(text, "\r\n", "\n") // a form's lines end so
	if utf8.RuneCountInString(text) > most || strings.ContainsRune(text, 0) {
		in.Fail(name, what)
		return
	}
	*into = text
}

// OptionalText reads up to most characters; it may be left out, and is empty
// then.
func (in *Input) OptionalText(into *string, name string, most int) {
	if !in.cleared(name, func() { *into = "" }) {
		in.Text(into, name, most)
	}
}

// Int reads a whole number.
func (in *Input) Int(into *int64, name string) {
	const what = "This must be a whole number."
	if text, ok := in.take(name, what, ofNumber); ok {
		n, err := strconv.ParseInt(text, 10, 64)
		set(in, into, name, what, n, err == nil)
	}
}

var number = regexp.MustCompile(`^-?[0-9]{1,15}(\.[0-9]{1,6})?$`)

// Numeric reads an exact number, up to 15 digits and 6 behind the point, as text.
func (in *Input) Numeric(into *string, name string) {
	const what = "This must be a number such as 12.50."
	if text, ok := in.take(name, what, ofString, ofNumber); ok {
		set(in, into, name, what, text, number.MatchString(text))
	}
}

// Bool reads yes or no; what is left out is no, as a form's box is.
func (in *Input) Bool(into *bool, name string) {
	const what = "This must be true or false."
	if _, given := in.values[name]; !given {
		*into = *into && in.partial
		return
	}
	if text, ok := in.take(name, what, ofBool); ok {
		b, err := strconv.ParseBool(text)
		set(in, into, name, what, b || text == "on", err == nil || text == "on")
	}
}

// Date reads a day such as 2027-01-31, as text.
func (in *Input) Date(into *string, name string) {
	const what = "This must be a date such as 2027-01-31."
	if text, ok := in.take(name, what, ofString); ok {
		t, err := time.Parse(time.DateOnly, text)
		set(in, into, name, what, text, err == nil && t.Year() > 0)
	}
}

// formTime is how a browser writes a moment, which is UTC here.
const formTime = "2006-01-02T15:04"

// Time reads a moment such as 2027-01-31T14:05:00Z.
func (in *Input) Time(into *time.Time, name string) {
	const what = "This must be a time such as 2027-01-31T14:05:00Z."
	text, ok := in.take(name, what, ofString)
	if !ok {
		return
	}
	for _, layout := range []string{time.RFC3339, formTime, formTime + ":05"} {
		if t, err := time.Parse(layout, text); err == nil {
			t = t.UTC().Truncate(time.Microsecond) // as exact as PostgreSQL is
			set(in, into, name, what, t, t.Year() > 0 && t.Year() < 10_000)
			return
		}
	}
	in.Fail(name, what)
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// UUID reads a UUID with its hyphens, as text in lower case.
func (in *Input) UUID(into *string, name string) {
	const what = "This must be a UUID such as 7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c34."
	if text, ok := in.take(name, what, ofString); ok {
		text = strings.ToLower(text)
		set(in, into, name, what, text, uuid.MatchString(text))
	}
}

func set[T any](in *Input, into *T, name, what string, v T, ok bool) {
	if !ok {
		in.Fail(name, what)
		return
	}
	*into = v
}

// Optional reads with one of the functions above what may be left out, and is
// nil then: web.Optional(in, &n.Due, "due", in.Date).
func Optional[T any](in *Input, into **T, name string, read func(*T, string)) {
	if in.cleared(name, func() { *into = nil }) {
		return
	}
	if _, given := in.values[name]; given {
		*into = new(T) // never what the caller's copy points at
		read(*into, name)
	}
}

// cleared reports whether a field has nothing in it, and clears it unless the
// request leaves it as it is.
func (in *Input) cleared(name string, clear func()) bool {
	v, given := in.values[name]
	if strings.TrimSpace(v.text) != "" || v.kind == ofOther {
		return false
	}
	if given || !in.partial {
		clear()
	}
	return true
}
