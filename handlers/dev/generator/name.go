package generator

import (
	"cmp"
	"strings"
)

// initialisms are written in capitals in Go.
var initialisms = map[string]string{
	"api": "API", "html": "HTML", "http": "HTTP", "id": "ID", "ip": "IP", "json": "JSON", "sql": "SQL", "url": "URL", "uuid": "UUID", "vat": "VAT",
}

// goName is order_line_id as OrderLineID.
func goName(snake string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(snake, "_") {
		name.WriteString(cmp.Or(initialisms[word], capital(word)))
	}
	return name.String()
}

// goLocal is order_line_id as orderLineID.
func goLocal(snake string) string {
	first, rest, more := strings.Cut(snake, "_")
	if !more {
		return first
	}
	return first + goName(rest)
}

// jsonName is order_line_id as orderLineId.
func jsonName(snake string) string {
	words := strings.Split(snake, "_")
	for i := range words[1:] {
		words[i+1] = capital(words[i+1])
	}
	return strings.Join(words, "")
}

// label is order_line as Order line.
func label(snake string) string { return capital(strings.ReplaceAll(snake, "_", " ")) }

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
