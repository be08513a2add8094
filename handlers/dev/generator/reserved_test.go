package generator_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/generator"
)

// compiler type-checks the code of resources.
type compiler struct {
	target generator.Target
	fset   *token.FileSet
	types  types.Config
}

func newCompiler(t *testing.T) compiler {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-export", "-f", "{{.ImportPath}} {{.Export}}", "./example/handlers")
	command.Stderr = os.Stderr
	listed, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	compiled := map[string]string{}
	for line := range strings.Lines(string(listed)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		compiled[path] = file
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) }
	fset := token.NewFileSet()
	return compiler{target(t, ""), fset, types.Config{Importer: importer.ForCompiler(fset, "gc", open)}}
}

// takes checks that the code of a resource compiles, unless it is refused.
func (c compiler) takes(t *testing.T, singular string, args ...string) {
	t.Helper()
	r, err := generator.Parse(singular, args)
	if err != nil {
		return
	}
	made, err := r.Files(c.target, 1)
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range []string{r.File + ".go", r.File + "_data.go"} {
		file, err := parser.ParseFile(c.fset, name, made["handlers/"+name], parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	if _, err := c.types.Check("handlers", c.fset, files, nil); err != nil {
		t.Errorf("add --singular %q %s: %v", singular, strings.Join(args, " "), err)
	}
}

// What is called like something in the code that would be written, or nearly so,
// is refused, or its code compiles.
func TestAdd_NamesThatTheCodeHasToo(t *testing.T) {
	t.Parallel()
	c, names := newCompiler(t), map[string]bool{"a_": true, "b": true, "co": true, "next": true, "i_d": true, "j_d": true}
	for _, name := range []string{"orderlines.go", "orderlines_data.go"} {
		file, err := parser.ParseFile(c.fset, "example/handlers/"+name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for n := range ast.Preorder(file) {
			if i, ok := n.(*ast.Ident); ok && !i.IsExported() {
				names[i.Name] = true
			}
		}
	}
	fields := []string{"things"}
	for name := range names {
		if _, err := generator.Parse("", []string{"things", name + ":int"}); err == nil {
			fields = append(fields, name+":int")
		}
		c.takes(t, "", name+"s", "a:int")
		c.takes(t, name, "things", "a:int")
		c.takes(t, "thing", name, "a:int")
	}
	c.takes(t, "", fields...)
	c.takes(t, "", "series", "a:int")
}
