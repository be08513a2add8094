package generator

import (
	"fmt"
	"strings"
)

// Columns are the lines of the table, in columns themselves.
func (r Resource) Columns() []string {
	rows := [][3]string{{"id", "bigint", "GENERATED ALWAYS AS IDENTITY PRIMARY KEY"}}
	for _, f := range r.Fields {
		rows = append(rows, [3]string{f.Column, f.kind().sql, f.constraints()})
	}
	rows = append(rows, [3]string{"created_by", "text", "NOT NULL"}, [3]string{"created_at", "timestamptz", "NOT NULL DEFAULT now()"})
	name, kind := 0, 0
	for _, row := range rows {
		name, kind = max(name, len(row[0])), max(kind, len(row[1]))
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		line := strings.TrimRight(fmt.Sprintf("%-*s %-*s %s", name, row[0], kind, row[1], row[2]), " ")
		if i < len(rows)-1 {
			line += ","
		}
		lines[i] = line
	}
	return lines
}

// cell is a column of the list's page.
type cell struct {
	Label, Class, Show string
	Names              bool // it leads to the thing
}

// maxCells is how many fields the list's page shows; the others are on the page
// of the thing.
const maxCells = 5

// Listed are the columns of the list's page: what a thing is known by, and the
// first others.
func (r Resource) Listed() []cell {
	named := r.named()
	cells := []cell{{"No.", "", "{{.ID}}", true}}
	if named != nil {
		cells[0] = cell{named.Label, "", named.Show(""), true}
	}
	for _, f := range r.Fields {
		if f.Type == "text" || len(cells) == maxCells || named != nil && f.Column == named.Column {
			continue
		}
		c := cell{f.Label, "", f.Show(""), false}
		if f.Type == "int" || f.Type == "numeric" {
			c.Class = ` class="num"`
		}
		cells = append(cells, c)
	}
	return cells
}

// Width is how many columns the list's page has.
func (r Resource) Width() int { return len(r.Listed()) + 1 }

// excerpt is the type of a text where it is what a thing is known by.
const excerpt = "excerpt"

// named is the field that a thing is known by: the first required string, or else
// text; nil: it has neither.
func (r Resource) named() *Field {
	known := append(r.Strings(), r.having(func(f Field) bool { return !f.Optional && f.Type == "text" })...)
	if len(known) == 0 {
		return nil
	}
	if f := known[0]; f.Type == "string" {
		return &f
	}
	return &Field{Column: known[0].Column, Label: known[0].Label, Go: known[0].Go, Type: excerpt}
}

// Named is what a thing is called on its own page.
func (r Resource) Named() string {
	if f := r.named(); f != nil {
		return f.Show(".Data")
	}
	return label(r.Label) + " {{.Data.ID}}"
}

// Show is the field in a page, where of is the thing.
func (f Field) Show(of string) string {
	field := of + "." + f.Go
	switch {
	case f.Type == ref:
		return f.showRef(of)
	case f.Type == excerpt:
		return `{{printf "%.80s" ` + field + "}}"
	case f.Type == "bool":
		return "{{if " + field + "}}Yes{{else}}No{{end}}"
	case f.Type == "timestamp" && f.Optional:
		return "{{with " + field + "}}{{date .}}{{end}}"
	case f.Type == "timestamp":
		return "{{date " + field + "}}"
	case f.Type == "date" && f.Optional:
		return "{{with " + field + "}}<time>{{.}}</time>{{end}}"
	case f.Type == "date":
		return "<time>{{" + field + "}}</time>"
	case f.nullable():
		return "{{with " + field + "}}{{.}}{{end}}"
	}
	return "{{" + field + "}}"
}

// showRef is what the field refers to, and leads there.
func (f Field) showRef(of string) string {
	title, id := "{{"+of+"."+f.Ref.Go+"}}", of+"."+f.Go
	if f.Ref.Path == "" {
		return title
	}
	link := `<a href="/` + f.Ref.Path + "/{{" + id + `}}">` + title + "</a>"
	if f.Optional {
		return "{{if " + id + "}}" + link + "{{end}}"
	}
	return link
}

// Hint is what stands behind the label in the form.
func (f Field) Hint() (hint string) {
	if f.Type == "timestamp" {
		hint = " (UTC)"
	}
	if f.Optional {
		hint += ` <span class="muted">(optional)</span>`
	}
	return hint
}

// Attributes are those of the field's element in the form.
func (f Field) Attributes() string {
	attributes := f.kind().input
	if !f.Optional {
		attributes += " required"
	}
	if f.Type != "text" {
		attributes += ` autocomplete="off"`
	}
	return attributes
}
