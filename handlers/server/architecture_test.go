package server_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// unpooled are the types through which one could reach the database past InTx.
var unpooled = []string{
	"github.com/jackc/pgx/v5.Conn", "github.com/jackc/pgx/v5/pgconn.PgConn", "github.com/jackc/pgx/v5/pgconn.HijackedConn",
	"github.com/jackc/pgx/v5/pgxpool.Pool", "github.com/jackc/pgx/v5/pgxpool.Conn", "github.com/jackc/pgx/v5/pgxpool.Config",
	"database/sql.DB", "database/sql.Conn", "database/sql.Tx",
}

// jobEngine is the type through which one could do so by the engine of the jobs,
// which tenancy gives to the package jobs.
const jobEngine = "github.com/riverqueue/river/riverdriver.Driver[github.com/jackc/pgx/v5.Tx]"

// owner is the one package that has connections.
const (
	module = "example.com/subproduct"
	owner  = module + "/tenancy"
)

// binary is the package of the production binary, from root.
const binary = "."

// goPackage is what `go list` says of a package.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
}

// listed are a package and all that it is built from, by import path.
func listed(t *testing.T, pattern string) map[string]goPackage {
	t.Helper()
	command := exec.Command("go", "list", "-deps", "-export", "-tags", "production", "-json=ImportPath,Dir,Export,GoFiles,Imports", pattern)
	command.Dir, command.Stderr = root, os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]goPackage{}
	for d := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p goPackage
		if err := d.Decode(&p); err == io.EOF {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		found[p.ImportPath] = p
	}
}

func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// Handlers reach data through InTx alone: no package but tenancy imports a
// driver or a pool, and no expression outside of it has the type of a
// connection, not even tx.Conn().
func TestArchitecture_HandlersReachDataThroughInTxAlone(t *testing.T) {
	t.Parallel()
	packages := listed(t, binary)
	checked := 0
	for path, p := range packages {
		if !ours(path) || path == owner || strings.HasPrefix(path, owner+"/") {
			continue
		}
		checked++
		for _, found := range pastInTx(t, packages, p) {
			t.Error(found)
		}
	}
	if checked < 8 {
		t.Errorf("only %d packages were looked at", checked)
	}
}

// pastInTx are the imports of a package and the places in it that lead past InTx.
func pastInTx(t *testing.T, packages map[string]goPackage, p goPackage) (found []string) {
	t.Helper()
	for _, path := range p.Imports {
		if opensConnections(path) {
			found = append(found, p.ImportPath+" imports "+path)
		}
	}
	return append(found, connections(t, packages, p)...)
}

// opensConnections reports whether a package is a driver, a pool or an engine on
// one. Two of pgx's are types, which sqlc's code names; what of theirs is a
// connection is found by its type.
func opensConnections(path string) bool {
	if path == "github.com/jackc/pgx/v5/pgconn" || path == "github.com/jackc/pgx/v5/pgtype" {
		return false
	}
	return path == "database/sql" || strings.HasPrefix(path, "github.com/jackc/pgx/v5/") ||
		strings.HasPrefix(path, "github.com/lib/pq") || strings.HasPrefix(path, "github.com/riverqueue/")
}

// Whoever has a *tenancy.DB finds no way from it to a connection: no exported
// field, result or argument of a function's argument, but InTx's pgx.Tx.
func TestArchitecture_TenancyGivesNoConnectionAway(t *testing.T) {
	t.Parallel()
	packages := listed(t, binary)
	fset := token.NewFileSet()
	pkg, err := importFrom(packages, fset).Import(owner)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() || name == "Options" { // Options.Configure is for whoever opens the database
			continue
		}
		for _, given := range surface(object) {
			if slices.Contains(unpooled, strings.TrimLeft(given, "*[]")) {
				t.Errorf("tenancy.%s gives a %s away", name, given)
			}
		}
	}
}

// surface is the types that are reached from an exported object: of a function
// its results and what it hands to its callbacks, of a type its exported fields
// and its methods.
func surface(object types.Object) (given []string) {
	switch object := object.(type) {
	case *types.Func:
		given = reached(object.Type())
	case *types.Var:
		given = append(given, object.Type().String())
	case *types.TypeName:
		for method := range types.NewMethodSet(types.NewPointer(object.Type())).Methods() {
			if method.Obj().Exported() {
				given = append(given, reached(method.Type())...)
			}
		}
		if structure, ok := object.Type().Underlying().(*types.Struct); ok {
			for field := range structure.Fields() {
				if field.Exported() {
					given = append(given, field.Type().String())
					given = append(given, reached(field.Type())...)
				}
			}
		}
	}
	return given
}

func reached(t types.Type) (given []string) {
	signature, ok := t.Underlying().(*types.Signature)
	if !ok {
		return nil
	}
	for result := range signature.Results().Variables() {
		given = append(given, result.Type().String())
	}
	for parameter := range signature.Params().Variables() {
		if callback, ok := parameter.Type().Underlying().(*types.Signature); ok {
			for handed := range callback.Params().Variables() {
				given = append(given, handed.Type().String())
			}
		}
	}
	return given
}

// connections are the places in a package where an expression has the type of
// a connection.
func connections(t *testing.T, packages map[string]goPackage, p goPackage) (found []string) {
	t.Helper()
	fset := token.NewFileSet()
	files := parsed(t, fset, p)
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: importFrom(packages, fset)}
	if _, err := config.Check(p.ImportPath, fset, files, info); err != nil {
		t.Fatal(err)
	}
	for expression, typed := range info.Types {
		if typed.Type != nil && slices.Contains(append(unpooled, jobEngine), strings.TrimLeft(typed.Type.String(), "*[]")) {
			found = append(found, fmt.Sprintf("%s: a %s", fset.Position(expression.Pos()), typed.Type))
		}
	}
	return found
}

// importFrom reads the compiler's export data.
func importFrom(packages map[string]goPackage, fset *token.FileSet) types.Importer {
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(packages[path].Export) })
}

// The production binary has nothing of the parts that development alone needs:
// a platform that signs anybody in, and a PostgreSQL without a password.
func TestArchitecture_TheProductionBinaryHasNoDevelopmentParts(t *testing.T) {
	t.Parallel()
	for path := range listed(t, binary) {
		for _, part := range []string{"/simulator", "/conformance", "/dev/clone", "/generator", "/localpg", "/handlertest", "embedded-postgres"} {
			if strings.Contains(path, part) {
				t.Errorf("it has %s", path)
			}
		}
	}
}
