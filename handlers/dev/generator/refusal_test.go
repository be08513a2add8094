package generator_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/dev/generator"
	"example.com/subproduct/tenancy/commands/flags"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// What cannot be made is refused with the reason and what would be right, and
// nothing is written.
func TestAdd_RefusesWithTheReason(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]string{
		"":                                                "say what to add",
		"invoices":                                        "say what to add",
		"Invoices number:string":                          "lower case",
		"order-lines number:string":                       "such as order_lines",
		"../x number:string":                              "lower case",
		"rooms_2 x:int":                                   "each word beginning with a letter",
		"invoice number:string":                           "write invoices",
		"people name:string":                              "--singular",
		"class name:string":                               "--singular",
		"references name:string":                          "word of SQL",
		"schema_migrations name:string":                   "template has a table",
		"a_s name:string":                                 "--singular",
		"ids number:int":                                  "id has a meaning",
		"bs name:string":                                  "b has a meaning",
		"sessions name:string":                            "template answers at /sessions",
		"types name:string":                               "the singular type of types is reserved: type has a meaning in Go",
		"strings name:string":                             "string has a meaning in Go",
		"errors name:string":                              "errors has a meaning",
		"pages name:string":                               "page has a meaning",
		"clocks name:string":                              "handlers/clocks.go has the name clocks",
		"lamps name:string":                               "handlers/clocks.go has the address /api/lamps/:id",
		"day_times name:string":                           "000007_more.up.sql has a table",
		"chairs name:string":                              "templates/chairs_form.html already",
		"invoices number":                                 "number:string",
		"invoices number:":                                "needs a type",
		"invoices number:varchar":                         `"varchar", which is no type; there are bool, date, int, numeric, string, text, timestamp, uuid`,
		"invoices :string":                                "name:type",
		"invoices dueDate:date":                           "due_date:date",
		"invoices x;y:date":                               "lower case",
		"invoices id:int":                                 "has it already",
		"invoices i_d:int":                                "in Go it would be ID",
		"invoices main:string":                            "id of every page's content",
		"invoices created_at:timestamp":                   "has it already",
		"invoices order:int":                              "word of SQL",
		"invoices xmin:int":                               "every table",
		"invoices a:int a:int":                            "there twice",
		"invoices a_id:int a_id:string":                   "there twice",
		"invoices a:int:primary":                          "unique and optional",
		"invoices a:int:unique:unique":                    "once each",
		"invoices a:bool:unique":                          "too small",
		"invoices a:text:unique":                          "too long",
		"invoices a:bool:optional":                        "left out is false",
		"invoices a:string:unique:optional":               "two would be the same",
		"invoices client:ref":                             "as in client:ref=clients",
		"invoices client:ref=":                            "as in client:ref=clients",
		"invoices client:ref=Clients;":                    "as in client:ref=clients",
		"invoices client:ref=clients":                     "make it first, as in add clients name:string",
		"invoices customer:ref=customers:unique":          "cannot be unique here",
		"invoices customer:ref=customers customer:string": "there twice",
		"invoices a_id:ref=customers a_id:int":            "there twice",
		"invoices created_by:ref=customers":               "has it already",
		"invoices invoice:ref=invoices":                   "cannot refer to itself",
		"invoices day:ref=day_times":                      "no whole number as its id",
		"invoices --singular invoice a:string":            "stands before",
		"invoices " + strings.Repeat("a", 60) + ":string": "lower case",
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			dir := before(t)
			for name, content := range map[string]string{
				"handlers/clocks.go":                 "package handlers\n\nvar clocks = \"/api/lamps/:id\"\n",
				"templates/chairs_form.html":         "",
				"schema/tenant/000007_more.up.sql":   "create table if not exists\n day_times (a int);",
				"schema/tenant/000007_more.down.sql": "",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			had := fingerprint(t, dir)
			err := generator.Add(target(t, dir), "", strings.Fields(call), io.Discard)
			if err == nil || !errors.Is(err, flags.ErrUsage) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want a refusal that says %q", err, want)
			}
			if fingerprint(t, dir) != had {
				t.Error("something was written")
			}
		})
	}
}

// fingerprint is another when a file of the folder is.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(os.DirFS(dir), path)
		fmt.Fprintf(sum, "%s %q\n", path, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// Whatever PostgreSQL itself cannot take as a name is refused.
func TestAdd_RefusesEveryReservedWordOfPostgreSQL(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), `SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T')`)
	if err != nil {
		t.Fatal(err)
	}
	words, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(words) < 90 {
		t.Fatalf("%d words, %v", len(words), err)
	}
	for _, word := range words {
		if _, err := generator.Parse("", []string{"invoices", word + ":string"}); err == nil {
			t.Errorf("%s is taken for a field", word)
		}
		if _, err := generator.Parse("thing", []string{word, "a:string"}); err == nil {
			t.Errorf("%s is taken for a resource", word)
		}
	}
}
