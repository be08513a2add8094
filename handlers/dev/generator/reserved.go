package generator

import (
	"fmt"
	"go/token"
	gotypes "go/types"
	"slices"
	"strings"
)

// reservedWords are PostgreSQL's, which cannot name a table or a column as they
// are; a test compares them with a server's.
const reservedWords = `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate
collation column concurrently constraint create cross current_catalog current_date current_role current_schema current_time
current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze from full
grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit localtime
localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references returning right
select session_user similar some symmetric system_user table tablesample then to trailing true union unique user using
variadic verbose when where window with`

// systemColumns are in every table of PostgreSQL.
const systemColumns = `cmax cmin ctid tableoid xmax xmin`

// ownColumns are in every resource.
const ownColumns = `id created_at created_by`

// ownTables keep the versions of schemas. The template's other tables are in its
// migrations, where hasTable finds them.
const ownTables = `schema_migrations template_migrations`

// ownPaths begin the template's own addresses.
const ownPaths = `api healthz livez login logout me metrics readyz sessions sso static webhooks`

// ownNames are what the code of a resource calls things.
const ownNames = `c changed created ctx echo err errors fmt found given http id in next page pgx rows session size tenancy time tx web window`

func among(words, word string) bool { return slices.Contains(strings.Fields(words), word) }

// reservedColumn is why a field may not have the name; empty: it may.
func reservedColumn(name string) string {
	switch {
	case among(ownColumns, name):
		return "every resource has it already"
	case goName(name) == "ID":
		return "in Go it would be ID, which every resource has already"
	case name == "main":
		return "in HTML it is the id of every page's content; write what it is of, such as ticket_main"
	case among(reservedWords, name):
		return "it is a word of SQL; write what it is of, such as ticket_" + name
	case among(systemColumns, name):
		return "PostgreSQL has a column of that name in every table"
	}
	return ""
}

// reserved refuses a resource that the language, SQL or the template has a use for.
func (r Resource) reserved() error {
	if among(reservedWords, r.Table) {
		return fmt.Errorf("the resource %s is reserved: it is a word of SQL", r.Table)
	}
	if among(ownTables, r.Table) {
		return fmt.Errorf("the resource %s is reserved: the template has a table of that name", r.Table)
	}
	if among(ownPaths, r.Path) {
		return fmt.Errorf("the resource %s is reserved: the template answers at /%s itself", r.Table, r.Path)
	}
	const why = "has a meaning in Go, or in the code that would be written"
	if r.meansMore(r.Type) {
		return fmt.Errorf("the resource %s is reserved: %s %s", r.Table, r.Type, why)
	}
	if r.meansMore(r.One) {
		return fmt.Errorf("the singular %s of %s is reserved: %s %s; say another with --singular", r.One, r.Table, r.One, why)
	}
	return nil
}

// meansMore reports whether a name has a meaning already where the code would use it.
func (r Resource) meansMore(name string) bool {
	return among(ownNames, name) || name == r.R() || name == r.O() || token.IsKeyword(name) || gotypes.Universe.Lookup(name) != nil
}
