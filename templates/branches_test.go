package templates_test

import (
	"slices"
	"strings"
	"text/template/parse"
)

// action stands in a text for what an action would write there.
const action = "\uFFFC"

// branches reads a page as if certain conditions held, and no others.
type branches struct {
	trees map[string]*parse.Tree
	text  strings.Builder
	// holds are the conditions that hold, around those of them that what is being
	// read stands within, and next the ones to read the page with later.
	holds, around []string
	next          [][]string
	depth         int
}

// texts are what a page can become, each branch of it once: with no condition
// true, then with each one and what it stands within. The same condition has the
// same answer throughout a text.
func texts(trees map[string]*parse.Tree, root string) (all []string) {
	seen := map[string]bool{}
	for next := [][]string{nil}; len(next) > 0; next = next[1:] {
		holds := slices.Compact(slices.Sorted(slices.Values(next[0])))
		if key := strings.Join(holds, "\n"); !seen[key] {
			seen[key] = true
			b := &branches{trees: trees, holds: holds}
			b.template(root, "")
			all, next = append(all, b.text.String()), append(next, b.next...)
		}
	}
	return all
}

func (b *branches) template(name, scope string) {
	if tree := b.trees[name]; tree != nil && b.depth < 20 {
		b.depth++
		b.list(tree.Root, scope)
		b.depth--
	}
}

// list reads nodes; scope is what their dot is.
func (b *branches) list(l *parse.ListNode, scope string) {
	if l == nil {
		return
	}
	for _, node := range l.Nodes {
		switch n := node.(type) {
		case *parse.TextNode:
			b.text.Write(n.Text)
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 {
				b.text.WriteString(action)
			}
		case *parse.TemplateNode:
			b.template(n.Name, within(scope, n.Pipe))
		case *parse.IfNode:
			b.branch(&n.BranchNode, scope, scope)
		case *parse.WithNode:
			b.branch(&n.BranchNode, within(scope, n.Pipe), scope)
		case *parse.RangeNode:
			b.branch(&n.BranchNode, within(scope, n.Pipe), scope)
		}
	}
}

// branch reads what is there when the condition holds, or what is there else.
func (b *branches) branch(n *parse.BranchNode, inside, scope string) {
	condition, not := strings.CutPrefix(inScope(scope, n.Pipe), "not ")
	holds := slices.Contains(b.holds, condition)
	if holds {
		around := b.around
		b.around = append(slices.Clone(around), condition)
		defer func() { b.around = around }()
	} else {
		b.next = append(b.next, append(slices.Clone(b.around), condition))
	}
	if holds != not {
		b.list(n.List, inside)
	} else {
		b.list(n.ElseList, scope)
	}
}

// within is the scope inside of {{with}}, {{range}} and a template.
func within(scope string, p *parse.PipeNode) string {
	if p == nil || p.String() == "." {
		return scope
	}
	return inScope(scope, p)
}

// inScope is a condition by what it asks and of whom; it begins with "not "
// where it asks for the contrary.
func inScope(scope string, p *parse.PipeNode) string {
	asks := (&parse.PipeNode{NodeType: parse.NodePipe, Cmds: p.Cmds}).String()
	contrary := ""
	if negated, ok := strings.CutPrefix(asks, "not "); ok {
		contrary, asks = "not ", strings.Trim(negated, "()")
	} else if unequal, ok := strings.CutPrefix(asks, "ne "); ok {
		contrary, asks = "not ", "eq "+unequal
	}
	if strings.HasPrefix(asks, "$") {
		scope = ""
	}
	return contrary + scope + " " + asks
}
