package generator

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// ref is the type of a field that refers to another table of the tenants':
// client:ref=clients.
const ref = "ref"

// Ref is what a field refers to.
type Ref struct {
	Table string // clients
	Go    string // what holds its title, Client
	Label string // client
	Title string // the SQL of what one is called
	Path  string // of its pages; empty: it has none
}

var refType = fieldType{"bigint", "int64", "Int", "", [3]string{"%d", "%d", "%d"}, `"many"`}

// newRef is the field of client:ref=clients, whose column is client_id.
func newRef(name, table string) (Field, error) {
	name = strings.TrimSuffix(name, "_id")
	column := name + "_id"
	if !resourceName.MatchString(table) {
		return Field{}, fmt.Errorf("the field %s needs the table that it refers to, as in client:ref=clients", name)
	}
	if among(ownColumns, name) || goName(name) == "ID" || reservedColumn(column) != "" {
		return Field{}, fmt.Errorf("the field %s is reserved: every resource has it already", name)
	}
	f := newField(column, ref)
	f.Label = label(name)
	f.Ref = Ref{Table: table, Go: goName(name), Label: strings.ReplaceAll(name, "_", " ")}
	return f, nil
}

var (
	hasID   = regexp.MustCompile(`(?i)[\s(]"?id"?\s+(bigint|bigserial|int8|int|integer|serial)\b`)
	titleOf = regexp.MustCompile(`(\w+)\s+text\s+NOT NULL (?:UNIQUE )?CHECK \(\w+ <> '' AND char_length\(\w+\) <= 200\)`)
)

// refer finds what the fields of a resource refer to. What add has made is known
// by its first string, any other table by its ids.
func (p *product) refer(r Resource) error {
	for i, f := range r.Fields {
		if f.Type != ref {
			continue
		}
		table, err := p.table(f.Ref.Table)
		switch {
		case err != nil:
			return err
		case table == "" && f.Ref.Table == r.Table:
			return refuse("%s cannot refer to itself here: add it without %s, and write that column into its migration", r.Table, f.Ref.Label)
		case table == "":
			return refuse("the field %s refers to %s, and schema/tenant/ has no such table: make it first, as in add %s name:string",
				f.Ref.Label, f.Ref.Table, f.Ref.Table)
		case !hasID.MatchString(table):
			return refuse("the field %s refers to %s, which has no whole number as its id: write that column by hand", f.Ref.Label, f.Ref.Table)
		}
		r.Fields[i].Ref.Title = "'" + f.Label + " ' || id"
		if title := titleOf.FindStringSubmatch(table); title != nil {
			r.Fields[i].Ref.Title = title[1]
		}
		r.Fields[i].Ref.Path = p.pagesOf(f.Ref.Table)
	}
	return nil
}

// table is the statement that makes a table of the tenants'; empty: none.
func (p *product) table(name string) (string, error) {
	makes := regexp.MustCompile(`(?is)\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?"?` + name + `"?\s*\([^;]*`)
	for _, path := range p.glob("schema/tenant/*.up.sql") {
		content, err := os.ReadFile(path)
		if statement := makes.Find(content); err != nil || statement != nil {
			return string(statement), err
		}
	}
	return "", nil
}

// pagesOf is the path of the pages that add has made for a table; empty: none.
func (p *product) pagesOf(table string) string {
	path := strings.ReplaceAll(table, "_", "-")
	where, _ := p.answers("/" + path + "/:id")
	if where == "" || len(p.glob("templates/"+strings.ReplaceAll(table, "_", "")+"_show.html")) == 0 {
		return ""
	}
	return path
}

// Refs are the fields that refer to something.
func (r Resource) Refs() []Field { return r.having(func(f Field) bool { return f.Type == ref }) }

// Referred is the SQL of what the thing that a field refers to is called.
func (r Resource) Referred(f Field) string {
	title := fmt.Sprintf("(SELECT %s FROM %s WHERE %s.id = %s.%s)", f.Ref.Title, f.Ref.Table, f.Ref.Table, r.Table, f.Column)
	if f.Optional {
		return "coalesce(" + title + ", '')"
	}
	return title
}

// NoSuch is what a field says that refers to nothing.
func (r Resource) NoSuch(f Field) string {
	if len(r.Refs()) > 1 {
		return "There is no such " + f.Ref.Label + ", or what another field refers to is not there."
	}
	return "There is no such " + f.Ref.Label + "."
}

// Body is the Go of one of a test's three things as JSON; more is added to the
// id of the first that it refers to.
func (r Resource) Body(nth, more string) string {
	ids := ""
	for i, f := range r.Refs() {
		ids += ", " + f.Local()
		if i == 0 {
			ids += more
		}
	}
	if ids == "" {
		return nth + r.Singular
	}
	return "fmt.Sprintf(" + nth + r.Singular + ids + ")"
}

// Local is what a test calls the id of what the field refers to.
func (f Field) Local() string { return goLocal(f.Column) }
