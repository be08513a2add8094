package templates_test

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"golang.org/x/net/html"
)

var void = strings.Fields("area base br col embed hr img input link meta param source track wbr")

// judge holds the texts of a page against what a browser would forgive or a user
// would miss: tags that do not match, things the content security policy drops
// in silence, fields without a label, classes that nothing knows.
type judge struct {
	looks     looks
	found     []string
	open, ids []string        // of this text
	all       map[string]bool // ids of every text
	labels    map[string]bool // ids that a label is for
	refs      map[string]bool // ids that something refers to
	fields    map[string]bool // by id, else by name: whether it says what it is
	noCode    bool            // the script that is open may have no text
}

// faults are what is wrong with a page, in whichever branch. A label and what it
// is for may stand in different ones.
func faults(trees map[string]*parse.Tree, root string, known looks) []string {
	none := func() map[string]bool { return map[string]bool{} }
	j := &judge{looks: known, all: none(), labels: none(), refs: none(), fields: none()}
	for _, text := range texts(trees, root) {
		j.read(text)
	}
	for field, named := range j.fields {
		if !named && !among(j.labels, field) {
			j.fault("the field %q has no label", field)
		}
	}
	for id := range j.refs {
		if !among(j.all, id) && !strings.Contains(id, action) {
			j.fault("there is no element with the id %q", id)
		}
	}
	return j.found
}

func (j *judge) fault(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(j.found, text) {
		j.found = append(j.found, text)
	}
}

// read reads one text, as a browser does.
func (j *judge) read(text string) {
	j.open, j.ids = nil, nil
	z := html.NewTokenizer(strings.NewReader(text))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		switch el := z.Token(); kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			j.element(el)
			if !slices.Contains(void, el.Data) && (kind == html.StartTagToken || !j.drawing()) {
				j.open = append(j.open, el.Data)
			}
		case html.TextToken:
			if j.noCode && j.innermost() == "script" && strings.TrimSpace(el.Data) != "" {
				j.fault("<script>: the content security policy drops what stands in a page")
			}
		case html.EndTagToken:
			if j.innermost() != el.Data {
				j.fault("</%s> closes nothing; open: %v", el.Data, j.open)
				return
			}
			j.open = j.open[:len(j.open)-1]
		}
	}
	if len(j.open) > 0 {
		j.fault("never closed: %v", j.open)
	}
}

// innermost is the element that is open; empty: none.
func (j *judge) innermost() string {
	if len(j.open) == 0 {
		return ""
	}
	return j.open[len(j.open)-1]
}

// drawing reports whether a tag is of SVG or MathML, where <path/> is closed.
func (j *judge) drawing() bool {
	return slices.Contains(j.open, "svg") || slices.Contains(j.open, "math")
}
