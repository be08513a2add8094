package generator

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/subproduct/tenancy/commands/flags"
)

// product is what is there already.
type product struct {
	root  string
	fset  *token.FileSet
	files map[string]*ast.File // the Go files directly in handlers/, by path from the root
}

func readProduct(root string) (*product, error) {
	p := &product{root: root, fset: token.NewFileSet(), files: map[string]*ast.File{}}
	for _, path := range p.glob("handlers/*.go") {
		if err := p.parse("handlers/"+filepath.Base(path), nil); err != nil {
			return nil, err
		}
	}
	if len(p.files) == 0 {
		return nil, refuse("there is no handlers/ here: call it in the product's folder")
	}
	return p, nil
}

// parse reads a Go file; source is its text, nil what is on the disk.
func (p *product) parse(path string, source any) (err error) {
	p.files[path], err = parser.ParseFile(p.fset, filepath.Join(p.root, filepath.FromSlash(path)), source, parser.ParseComments|parser.SkipObjectResolution)
	return err
}

// glob are the files of a pattern, which is a good one.
func (p *product) glob(pattern string) []string {
	paths, _ := filepath.Glob(filepath.Join(p.root, filepath.FromSlash(pattern)))
	return paths
}

// free refuses a resource whose names, addresses or tables are taken.
func (p *product) free(r Resource) error {
	for _, name := range []string{r.Type, r.One, r.Type + "Page", r.One + "Columns", "errNo" + r.Singular, "one" + r.Singular, r.One + "Refs", r.One + "Choices"} {
		if where := p.declares(name); where != "" {
			return refuse("%s is taken: %s has the name %s", r.Table, where, name)
		}
	}
	if where, address := p.answers("/" + r.Path); where != "" {
		return refuse("%s is taken: %s has the address %s", r.Table, where, address)
	}
	where, err := p.hasTable(r.Table)
	if err == nil && where != "" {
		err = refuse("%s is taken: %s has a table of that name", r.Table, where)
	}
	return err
}

// declares is the file that has the name for something of its own or for what it
// imports; empty: none.
func (p *product) declares(name string) string {
	for path, file := range p.files {
		for _, i := range file.Imports {
			imported, _ := strconv.Unquote(i.Path.Value)
			if i.Name != nil && i.Name.Name == name || i.Name == nil && filepath.Base(imported) == name {
				return path
			}
		}
		declares := func(d ast.Decl) bool { return declared(d, name) }
		if !strings.HasSuffix(path, "_test.go") && slices.ContainsFunc(file.Decls, declares) {
			return path
		}
	}
	return ""
}

func declared(d ast.Decl, name string) bool {
	var names []*ast.Ident
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Recv == nil && d.Name.Name == name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name)
			case *ast.ValueSpec:
				names = append(names, spec.Names...)
			}
		}
	}
	return slices.ContainsFunc(names, func(n *ast.Ident) bool { return n.Name == name })
}

// answers is the file that has an address at path or beneath it, and what that
// is; empty: none.
func (p *product) answers(path string) (where, address string) {
	for name, file := range p.files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for n := range ast.Preorder(file) {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				address, _ := strconv.Unquote(literal.Value)
				if page := strings.TrimPrefix(address, "/api"); page == path || strings.HasPrefix(page, path+"/") {
					return name, address
				}
			}
		}
	}
	return "", ""
}

// hasTable is the migration that makes a table, or the like, of the name.
func (p *product) hasTable(name string) (where string, err error) {
	made := regexp.MustCompile(`(?i)\bcreate\s+[a-z ]*\b(table|view|sequence|type|index)\s+(if\s+not\s+exists\s+)?(public\s*\.\s*)?"?` + name + `"?(\s|\(|$)`)
	for _, dir := range []string{"schema/tenant", "schema/shared", "tenancy/schema"} {
		for _, path := range p.glob(dir + "/*.up.sql") {
			content, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			if made.Match(content) {
				return dir + "/" + filepath.Base(path), nil
			}
		}
	}
	return "", nil
}

// nextMigration is the number behind the last of the tenants' migrations.
func (p *product) nextMigration() int {
	last := 0
	for _, path := range p.glob("schema/tenant/*.sql") {
		text, _, _ := strings.Cut(filepath.Base(path), "_")
		if n, err := strconv.Atoi(text); err == nil {
			last = max(last, n)
		}
	}
	return last + 1
}

// refuse is the error of a call that is wrong, or not possible here.
func refuse(format string, args ...any) error { return flags.Usage(fmt.Errorf(format, args...)) }
