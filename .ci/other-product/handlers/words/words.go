// Package words is one of the product's own, in a folder that the template does
// not know, and asks for a module that the template does not ask for.
package words

import (
	"golang.org/x/text/language"

	"example.com/subproduct/templates"
)

// Language is what the pages are written in.
func Language() string { return language.English.String() }

// Pages counts them.
func Pages() int {
	entries, _ := templates.FS.ReadDir(".")
	return len(entries)
}
