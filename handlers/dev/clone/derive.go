package clone

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	// templateOnly is what stands in the template's copy of a file alone, and
	// productOnly what is shown in a product's.
	templateOnly = regexp.MustCompile(`(?ms)^[^\n]*\[template only.*?template only\][^\n]*\n\n?`)
	productOnly  = regexp.MustCompile(`(?ms)^[^\n]*\[product only[^\n]*\n(.*?)^[^\n]*product only\][^\n]*\n`)
)

// derive is what a file of the template is in the product.
func (o *origin) derive(name string, content []byte) []byte {
	if !utf8.Valid(content) {
		return content
	}
	text := string(content)
	if kindOf(name) == merged {
		text = productOnly.ReplaceAllString(templateOnly.ReplaceAllString(text, ""), "$1")
	}
	switch name {
	case "README.md":
		_, rest, _ := strings.Cut(text, "\n")
		text = "# " + o.name + "\n" + rest
	case ".env.example":
		text = strings.Replace(text, "\nAPP_SLUG=change-me\n", "\nAPP_SLUG="+o.slug+"\n", 1)
	}
	if o.ownModule == o.module {
		return []byte(text)
	}
	if name == ".gitignore" { // the binary is called after the module
		text += "/" + path.Base(o.ownModule) + "\n"
	}
	return bytes.ReplaceAll([]byte(text), []byte(o.module), []byte(o.ownModule))
}
