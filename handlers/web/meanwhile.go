package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// versionField is the hidden field of a form that says, as If-Match does, what
// the form was made for. Without it, the form changes whatever there is.
const versionField = "if-match"

// For has the form say what it shows, which its template sends back in the field
// if-match: IfMatch then refuses it when that has changed meanwhile.
func (f Form) For(what any) Form {
	f.Version, _ = ETag(what) // what is no JSON has none
	return f
}

// changedError is IfMatch's: the request was made for another state than this.
type changedError struct{ current any }

func (e *changedError) Error() string { return e.Unwrap().Error() }

func (*changedError) Unwrap() error {
	return &Problem{Status: http.StatusPreconditionFailed, Title: "Changed meanwhile", Message: "This was changed meanwhile. Read it again."}
}

// meanwhile is the form as it was typed, with what there is now at each field
// that is another: sent again, it is for that.
func (f Form) meanwhile(current any) Form {
	f = f.For(current)
	f.Changed, f.Errors = true, Invalid{}
	body, _ := json.Marshal(current) // it had a version
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(body, &fields)
	for name, raw := range fields {
		now := jsonValue(raw)
		typed, sent := f.Values[name]
		if now.kind == ofBool { // an empty box is not sent
			typed, sent = strconv.FormatBool(typed == "true"), true
		}
		if sent && shown(now) != strings.ReplaceAll(strings.TrimSpace(typed), "\r\n", "\n") {
			f.Errors[name] = "Now: " + now.label()
		}
	}
	return f
}

// label says a value to a reader.
func (v value) label() string {
	if v.kind == ofBool {
		return map[string]string{"true": "yes", "false": "no"}[v.text]
	}
	return cmp.Or(shown(v), "empty")
}

// shown is a value as a form has it.
func shown(v value) string {
	if at, err := time.Parse(time.RFC3339, v.text); err == nil && v.kind == ofString {
		return at.UTC().Format(formTime + ":05")
	}
	return v.text
}
