package generator

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Resource is what is to be made, with its name in every form.
type Resource struct {
	Table    string // order_lines
	Path     string // order-lines
	File     string // orderlines
	JSON     string // orderLines
	Type     string // orderLines
	One      string // orderLine
	Plural   string // OrderLines
	Singular string // OrderLine
	Title    string // Order lines
	Labels   string // order lines
	Label    string // order line
	Fields   []Field

	Module, Product string // what it imports
	Routes          string // what the routes function calls its argument
}

var (
	resourceName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*$`)
	fieldName    = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
)

// Parse reads the arguments of the command: a plural in snake case, and
// name:type fields. singular is empty where it follows from the plural. It
// returns an error that says what is wrong and what would be right.
func Parse(singular string, args []string) (Resource, error) {
	if len(args) < 2 {
		return Resource{}, fmt.Errorf("say what to add and what it has: add invoices number:string amount:numeric due:date paid:bool (types: %s)", strings.Join(types(), ", "))
	}
	plural := args[0]
	for _, name := range []string{plural, singular} {
		if name != "" && !resourceName.MatchString(name) {
			return Resource{}, fmt.Errorf("%q cannot be a resource: write it in lower case with underscores, each word beginning with a letter, such as order_lines", name)
		}
	}
	if singular == "" {
		if singular = singularOf(plural); !resourceName.MatchString(singular) {
			return Resource{}, fmt.Errorf("%q is no plural that ends in s: write %ss, or say its singular, as in add --singular person people name:string", plural, plural)
		}
	}
	if len(plural) > maxName {
		return Resource{}, fmt.Errorf("%q cannot be a resource: it has at most %d letters", plural, maxName)
	}
	r := Resource{
		Table: plural, Path: strings.ReplaceAll(plural, "_", "-"), File: strings.ReplaceAll(plural, "_", ""),
		JSON: jsonName(plural), Type: goLocal(plural), One: goLocal(singular), Plural: goName(plural), Singular: goName(singular),
		Title: label(plural), Labels: strings.ReplaceAll(plural, "_", " "), Label: strings.ReplaceAll(singular, "_", " "),
	}
	if singular == plural {
		r.One = goLocal("a_" + singular) // Go needs two names
	}
	if err := r.reserved(); err != nil {
		return r, err
	}
	return r, r.parseFields(args[1:])
}

// maxName leaves room for what PostgreSQL adds to names, which end at 63 bytes.
const maxName = 40

func (r *Resource) parseFields(args []string) error {
	for _, arg := range args {
		f, err := parseField(arg)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(r.Fields, func(g Field) bool { return g.Go == f.Go || g.Go == f.Ref.Go || g.Ref.Go == f.Go }) {
			return fmt.Errorf("the field %s is there twice", f.Column)
		}
		f.Arg, f.Before = len(r.Fields)+1, len(r.having(Field.isTime))
		r.Fields = append(r.Fields, f)
	}
	return nil
}

// singularOf is the singular of a regular English plural, or of one that business
// has often; empty: it is none.
func singularOf(plural string) string {
	for _, rule := range []struct{ end, with string }{
		{"series", "series"}, {"species", "species"}, {"news", "news"}, {"movies", "movie"}, {"cookies", "cookie"},
		{"yses", "ysis"}, {"theses", "thesis"}, {"gnoses", "gnosis"}, {"crises", "crisis"},
		{"tuses", "tus"}, {"nuses", "nus"}, {"ruses", "rus"}, {"puses", "pus"}, {"buses", "bus"},
		{"ies", "y"}, {"sses", "ss"}, {"shes", "sh"}, {"ches", "ch"}, {"xes", "x"}, {"ss", ""}, {"us", ""}, {"s", ""},
	} {
		if stem, ok := strings.CutSuffix(plural, rule.end); ok {
			if rule.end == "ss" || rule.end == "us" {
				return ""
			}
			return stem + rule.with
		}
	}
	return ""
}

// R and O are what methods call a resource and one of its things.
func (r Resource) R() string { return receiver(r.Type) }

// O is the receiver of one thing's methods.
func (r Resource) O() string { return receiver(r.One) }

// receiver is a name's first letter, but c, which is the request's context.
func receiver(name string) string {
	if name[0] == 'c' && len(name) > 1 {
		return name[:2]
	}
	return name[:1]
}

// CreatedBy is the number of the argument behind the fields'.
func (r Resource) CreatedBy() int { return len(r.Fields) + 1 }

// Wide reports whether the fields go on lines of their own.
func (r Resource) Wide() bool { return len(r.Fields) > 4 }

// Unique are the fields of which no two rows may have the same.
func (r Resource) Unique() []Field { return r.having(func(f Field) bool { return f.Unique }) }

// Required are the fields that must be given.
func (r Resource) Required() []Field {
	return r.having(func(f Field) bool { return !f.Optional && f.Type != "bool" })
}

// Strings are the required fields of one line of text.
func (r Resource) Strings() []Field {
	return r.having(func(f Field) bool { return !f.Optional && f.Type == "string" })
}

func (r Resource) having(what func(Field) bool) (found []Field) {
	for _, f := range r.Fields {
		if what(f) {
			found = append(found, f)
		}
	}
	return found
}

// Taken is what a field says whose value must be unique and is not.
func (r Resource) Taken() string {
	if len(r.Unique()) > 1 {
		return "This or another of the fields that must be unique is there already."
	}
	return "This is there already."
}

// Searched is the SQL of what the search looks at.
func (r Resource) Searched() string {
	found := r.having(func(f Field) bool { return f.Type != "bool" && f.Type != "timestamp" && f.Type != ref })
	if len(found) == 1 && (found[0].Type == "string" || found[0].Type == "text") {
		return found[0].Column
	}
	if len(found) == 0 {
		found = r.Fields
	}
	columns := make([]string, len(found))
	for i, f := range found {
		columns[i] = f.Column
	}
	return "concat_ws(' ', " + strings.Join(columns, ", ") + ")"
}
