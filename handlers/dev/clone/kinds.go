package clone

import (
	"path"
	"slices"
	"strings"
)

// kind says whose a file is, and so what an upgrade does with it.
type kind int

const (
	ofProduct     kind = iota // never touched
	ofTemplate                // as it is in the template
	merged                    // changed by both
	goModule                  // go.mod and go.sum: the higher requirements
	templateAlone             // about the template itself: not in a product
)

// productFolders are those whose own files are the product's, but for the Go
// files of all of them except handlers.
var productFolders = []string{"handlers", "schema/tenant", "schema/shared", "templates", "static"}

// kindOf is the kind of the file at a path with slashes.
func kindOf(file string) kind {
	top, _, nested := strings.Cut(file, "/")
	folder := path.Dir(file)
	switch {
	case file == "go.mod", file == "go.sum":
		return goModule
	case strings.HasPrefix(file, ".ci/other-product/"), file == ".ci/without-sample", folder == ".github" && path.Ext(file) == ".png":
		return templateAlone
	case file == originFile, file == ".env":
		return ofProduct
	case folder == "handlers":
		return ofProduct
	case top == "handlers", top == "tenancy", path.Ext(file) == ".go" && (!nested || slices.Contains([]string{"schema", "templates", "static"}, folder)):
		return ofTemplate
	case slices.ContainsFunc(productFolders, func(f string) bool { return strings.HasPrefix(file, f+"/") }):
		return ofProduct
	}
	return merged
}
