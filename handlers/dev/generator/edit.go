package generator

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// edits are the files of the product that change, by their path, and notes for
// whoever called where a line has no place.
func (p *product) edits(r Resource) (changed map[string]string, notes []string, err error) {
	changed = map[string]string{}
	err = errors.Join(p.addRoutes(r, changed), p.addError(r, changed),
		p.addLink(layout, r.link(), changed), p.addLink(home, r.card(), changed))
	if changed[layout] == "" {
		notes = append(notes, layout+" has no <nav>: make a link to /"+r.Path+" yourself")
	}
	return changed, notes, err
}

// addRoutes adds the lines of the resource to the end of the function that has a
// server.Routes.
func (p *product) addRoutes(r Resource, changed map[string]string) error {
	for _, path := range slices.Sorted(maps.Keys(p.files)) {
		for _, d := range p.files[path].Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			for _, argument := range f.Type.Params.List {
				if selected(argument.Type, "Routes") && len(argument.Names) == 1 && argument.Names[0].Name != "_" {
					r.Routes = argument.Names[0].Name
					lines, err := r.render("routes.go.tmpl")
					if err != nil {
						return err
					}
					return p.insert(changed, path, p.fset.Position(f.Body.Rbrace).Offset, 0, lines)
				}
			}
		}
	}
	return refuse("handlers/ has no function with an argument of type server.Routes, where the addresses go")
}

// addError adds the answer to the error that there is no such thing.
func (p *product) addError(r Resource, changed map[string]string) error {
	line := fmt.Sprintf("{Err: errNo%s, Status: http.StatusNotFound, Sentence: \"There is no such %s.\"},\n", r.Singular, r.Label)
	for _, path := range slices.Sorted(maps.Keys(p.files)) {
		list := answerList(p.files[path])
		if list == nil {
			continue
		}
		from := p.fset.Position(list.Lbrace).Offset + 1
		if n := len(list.Elts); n > 0 {
			from = p.fset.Position(list.Elts[n-1].End()).Offset
			line = ",\n" + line
		} else {
			line = "\n" + line
		}
		return p.insert(changed, path, from, p.fset.Position(list.Rbrace).Offset-from, line)
	}
	return refuse("handlers/ has no []web.ErrorAnswer{…}, where the answers to errors go: errors.go of the template shows it")
}

// answerList is the first list of a web.ErrorAnswer in a file; nil: none.
func answerList(file *ast.File) *ast.CompositeLit {
	for n := range ast.Preorder(file) {
		if l, ok := n.(*ast.CompositeLit); ok {
			if a, ok := l.Type.(*ast.ArrayType); ok && selected(a.Elt, "ErrorAnswer") {
				return l
			}
		}
	}
	return nil
}

// selected reports whether an expression is some package's name.
func selected(e ast.Expr, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == name
}

// insert puts text into a Go file in place of so many bytes, and net/http among
// its imports where the text needs it. The next may be into the same file, and
// finds it as it is then.
func (p *product) insert(changed map[string]string, path string, at, instead int, text string) error {
	content, again := changed[path]
	if !again {
		read, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(path)))
		if err != nil {
			return err
		}
		content = string(read)
	}
	whole := content[:at] + text + content[at+instead:]
	if strings.Contains(text, "http.") && !strings.Contains(whole, `"net/http"`) {
		whole = importing.ReplaceAllString(whole, "\nimport (\n\"net/http\"\n\n$1$2\n)\n")
	}
	formatted, err := format.Source([]byte(whole))
	if err != nil {
		return err
	}
	changed[path] = string(formatted)
	return p.parse(path, formatted)
}

// importing is what a file imports: all that stands in brackets, or the one line.
var importing = regexp.MustCompile(`(?s)\nimport (?:\(\n(.*?)\n\)|("[^"]+"))\n`)

// The pages that lead to a resource. A product may have made the second anew.
const (
	layout = "templates/layout.html"
	home   = "templates/home.html"
)

// link leads to the resource from the layout, and card from the home page.
func (r Resource) link() string {
	return fmt.Sprintf("<a href=\"/%s\"{{if $.In \"/%s\"}} aria-current=\"page\"{{end}}>%s</a>\n", r.Path, r.Path, r.Title)
}

func (r Resource) card() string {
	return fmt.Sprintf("<a class=\"card go\" href=\"/%s\"><strong>%s</strong> <span class=\"muted\">Find one, or add one.</span></a>\n", r.Path, r.Title)
}

// ownPages is the remark before which links go, where a page still has it.
const ownPages = "{{- /* Your own pages go here"

// addLink adds a link to a page before that remark, or else at the end of its
// first navigation; where it has neither, the page does not change.
func (p *product) addLink(page, link string, changed map[string]string) error {
	whole, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(page)))
	if os.IsNotExist(err) {
		return nil
	}
	deeper := ""
	before, after, found := strings.Cut(string(whole), ownPages)
	if found {
		after = ownPages + after
	} else if before, after, found = strings.Cut(string(whole), "</nav>"); found {
		after, deeper = "</nav>"+after, "  "
	}
	if err != nil || !found {
		return err
	}
	indent := before[strings.LastIndex(before, "\n")+1:]
	changed[page] = before + deeper + link + indent + after
	return nil
}
