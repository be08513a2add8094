package generator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Field is one thing that a resource keeps.
type Field struct {
	Column, Name, Go, Label, Type string // due_date, dueDate, DueDate, Due date, date
	Unique, Optional              bool
	Arg                           int // its number among the arguments of SQL
	Before                        int // how many dates and times stand before it
	Ref                           Ref // of the type ref
}

// fieldType is what a type is in SQL, Go and HTML, and how a test writes it: three
// values, as JSON, and one that is wrong.
type fieldType struct {
	sql, goType, read, input string
	samples                  [3]string
	wrong                    string
}

// Limits of text, in characters.
const (
	maxString = 200
	maxText   = 10_000
)

var fieldTypes = map[string]fieldType{
	"string": {"text", "string", "Text", ` maxlength="200"`, [3]string{`"First %s"`, `"Second %s"`, `"Third %s"`}, `7`},
	"text":   {"text", "string", "Text", ` maxlength="10000"`, [3]string{`"First %s"`, `"Second %s"`, `"Third %s"`}, `7`},
	"int":    {"bigint", "int64", "Int", ` type="number" step="1"`, [3]string{`7`, `8`, `9`}, `"many"`},
	"numeric": {"numeric", "string", "Numeric", ` inputmode="decimal"`,
		[3]string{`"12.50"`, `"99.95"`, `"0.10"`}, `"much"`},
	"bool": {"boolean", "bool", "Bool", "", [3]string{`true`, `false`, `true`}, `"perhaps"`},
	"date": {"date", "string", "Date", ` type="date"`, [3]string{`"2027-01-31"`, `"2027-02-28"`, `"2028-02-29"`}, `"2027-02-29"`},
	"timestamp": {"timestamptz", "time.Time", "Time", ` type="datetime-local" step="1"`,
		[3]string{`"2027-01-31T14:05:00Z"`, `"2027-02-28T14:05:00Z"`, `"2028-02-29T14:05:00Z"`}, `"soon"`},
	"uuid": {"uuid", "string", "UUID", "", [3]string{
		`"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c34"`, `"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c35"`, `"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c36"`}, `"7f1c"`},
}

func types() []string { return append(slices.Sorted(maps.Keys(fieldTypes)), "ref=TABLE") }

func newField(column, kind string) Field {
	return Field{Column: column, Name: jsonName(column), Go: goName(column), Label: label(column), Type: kind}
}

func (f Field) kind() fieldType {
	if f.Type == ref {
		return refType
	}
	return fieldTypes[f.Type]
}

// nullable reports whether what is left out is NULL, and nil; text is empty.
func (f Field) nullable() bool { return f.Optional && f.kind().read != "Text" }

// GoType is the type of the field in Go.
func (f Field) GoType() string {
	if f.nullable() {
		return "*" + f.kind().goType
	}
	return f.kind().goType
}

// Select is the SQL that reads it: as Go and JSON have it.
func (f Field) Select() string {
	switch f.Type {
	case "numeric", "uuid":
		return f.Column + "::text"
	case "date":
		return "to_char(" + f.Column + ", 'YYYY-MM-DD')"
	}
	return f.Column
}

// Read is the Go that takes it from a form or JSON.
func (f Field) Read(of string) string {
	into := fmt.Sprintf("&%s.%s, %q", of, f.Go, f.Name)
	switch {
	case f.kind().read == "Text" && f.Optional:
		return fmt.Sprintf("in.OptionalText(%s, %d)", into, f.most())
	case f.kind().read == "Text":
		return fmt.Sprintf("in.Text(%s, %d)", into, f.most())
	case f.Optional:
		return fmt.Sprintf("web.Optional(in, %s, in.%s)", into, f.kind().read)
	}
	return fmt.Sprintf("in.%s(%s)", f.kind().read, into)
}

func (f Field) most() int {
	if f.Type == "text" {
		return maxText
	}
	return maxString
}

// constraints are what stands behind the column's type.
func (f Field) constraints() string {
	var all []string
	if !f.nullable() {
		all = append(all, "NOT NULL")
	}
	if f.Unique {
		all = append(all, "UNIQUE")
	}
	if f.Type == ref {
		all = append(all, "REFERENCES "+f.Ref.Table+" (id)")
	}
	if f.kind().read == "Text" {
		check := fmt.Sprintf("char_length(%s) <= %d", f.Column, f.most())
		if !f.Optional {
			check = f.Column + " <> '' AND " + check
		}
		all = append(all, "CHECK ("+check+")")
	}
	return strings.Join(all, " ")
}
