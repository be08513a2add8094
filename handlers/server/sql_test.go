package server_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sends are the methods that send SQL, with the place of the SQL among their
// arguments.
var sends = map[string]int{"Exec": 1, "Query": 1, "QueryRow": 1, "Prepare": 2, "Queue": 0}

// elsewhere is SQL that leaves the tenant's schema by a name, or changes where
// and as whom the rest of a transaction runs.
var elsewhere = regexp.MustCompile(`(?i)\btenant_[a-z0-9_-]*"?\s*\.|\b(public|pg_temp\w*)"?\s*\.|\bsearch_path\b|\bset_config\b|` +
	`(^|;)\s*(re)?set\s+(local\s+|session\s+)*(role|session|all)\b|\bsession_authorization\b`)

// The SQL of the product's packages is constant, so that what a user typed is
// never part of it, and names no schema.
func TestArchitecture_SQLOfHandlersIsConstantAndNamesNoSchema(t *testing.T) {
	t.Parallel()
	packages := listed(t, binary)
	for path, p := range packages {
		if !ofProduct(path) {
			continue
		}
		fset := token.NewFileSet()
		for _, found := range unsafeSQL(t, packages, fset, parsed(t, fset, p)) {
			t.Error(found)
		}
	}
}

// What `add` makes is let by: the example refers to two things.
func TestArchitecture_SQLOfWhatAddMakesIsConstant(t *testing.T) {
	t.Parallel()
	const example = "/handlers/dev/generator/example/handlers"
	packages := listed(t, "."+example)
	fset := token.NewFileSet()
	files := parsed(t, fset, packages[module+example])
	if len(files) == 0 {
		t.Fatal("there is no example")
	}
	for _, found := range unsafeSQL(t, packages, fset, files) {
		t.Error(found)
	}
}

// parsed are the files of a package.
func parsed(t *testing.T, fset *token.FileSet, p goPackage) (files []*ast.File) {
	t.Helper()
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// What the test above refuses, and what it lets by.
func TestArchitecture_BuiltSQLIsFound(t *testing.T) {
	t.Parallel()
	packages := listed(t, binary)
	for statement, want := range map[string]bool{
		`tx.Exec(ctx, "SELECT " + "1")`: false, "tx.Query(ctx, `SELECT a FROM ` + table)": false, `tx.QueryRow(ctx, "SELECT $1", typed)`: false,
		`batch.Queue("SELECT $1", typed)`: false, `tx.Exec(ctx, "UPDATE t SET role = $1 WHERE public", typed)`: false,
		`tx.Exec(ctx, "SELECT '" + typed + "'")`: true, `tx.Query(ctx, fmt.Sprintf("SELECT %s", typed))`: true, `tx.QueryRow(ctx, typed)`: true,
		`batch.Queue("SELECT " + typed)`: true, `tx.Prepare(ctx, "p", typed)`: true, `db.InTx(ctx, func(tx pgx.Tx) error { _, err := tx.Exec(ctx, typed); return err })`: true,
		`tx.Exec(ctx, "SELECT 1 FROM tenant_acme.t")`: true, `tx.Exec(ctx, "SELECT 1 FROM \"tenant_a-b\" . t")`: true, `tx.Exec(ctx, "SELECT * FROM public.sessions")`: true,
		`tx.Exec(ctx, "SET LOCAL search_path TO x")`: true, `tx.Exec(ctx, "set  local  role x")`: true, `tx.Exec(ctx, "SELECT set_config($1, $2, true)", typed, typed)`: true,
		`func() { send := tx.Exec; send(ctx, typed) }()`: true,
	} {
		source := "package x\nimport (\"context\"; \"fmt\"; \"github.com/jackc/pgx/v5\"; \"example.com/subproduct/tenancy\")\nconst table = `t`\nvar _ = fmt.Sprint\n" +
			"func f(ctx context.Context, db *tenancy.DB, tx pgx.Tx, batch *pgx.Batch, typed string) {\n" + statement + "\n}"
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "x.go", source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		if found := unsafeSQL(t, packages, fset, []*ast.File{file}); len(found) > 0 != want {
			t.Errorf("%s: found %v, want %v", statement, found, want)
		}
	}
}

// unsafeSQL are the places where SQL is sent that is not constant or leads
// elsewhere, and where a method that sends SQL is not called but handed on.
func unsafeSQL(t *testing.T, packages map[string]goPackage, fset *token.FileSet, files []*ast.File) (found []string) {
	t.Helper()
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	config := types.Config{Importer: importFrom(packages, fset)}
	if _, err := config.Check("x", fset, files, info); err != nil {
		t.Fatal(err)
	}
	called := map[*ast.SelectorExpr]bool{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, at := sender(info, call.Fun)
			if method == nil || at >= len(call.Args) {
				return true
			}
			called[method] = true
			sql := info.Types[call.Args[at]].Value
			if sql == nil {
				found = append(found, fmt.Sprintf("%s: SQL that is not constant: give what varies as arguments ($1)", fset.Position(call.Pos())))
			} else if bad := elsewhere.FindString(constant.StringVal(sql)); bad != "" {
				found = append(found, fmt.Sprintf("%s: SQL that says %s", fset.Position(call.Pos()), bad))
			}
			return true
		})
	}
	for method := range info.Selections {
		if sends, _ := sender(info, method); sends != nil && !called[method] {
			found = append(found, fmt.Sprintf("%s: %s is handed on", fset.Position(method.Pos()), method.Sel.Name))
		}
	}
	slices.Sort(found)
	return found
}

// sender is the method that sends SQL which an expression selects; nil when it
// is none.
func sender(info *types.Info, expression ast.Expr) (*ast.SelectorExpr, int) {
	method, ok := ast.Unparen(expression).(*ast.SelectorExpr)
	if !ok || info.Selections[method] == nil {
		return nil, 0
	}
	of := strings.TrimLeft(info.Selections[method].Recv().String(), "*")
	at, ok := sends[method.Sel.Name]
	if !ok || !strings.HasPrefix(of, "github.com/jackc/pgx/") && !strings.HasPrefix(of, owner+".") {
		return nil, 0
	}
	return method, at
}
