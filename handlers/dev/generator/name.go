package generator

import "strings"

// initialisms are written in capitals in Go.
var initialisms = map[string]string{
	"api": "API", "html": "HTML", "http": "HTTP", "id": "ID", "ip": "IP", "json": "JSON", "sql": "SQL", "url": "URL", "uuid": "UUID", "vat": "VAT",
}

// goName is order_line_id as OrderLineID.
func goName(snake string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(snake, "_") {
		if upper := initialisms[word]; upper != "" {
			name.WriteString(upper)
		} else {
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
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
	first, rest, _ := strings.Cut(snake, "_")
	for word := range strings.SplitSeq(rest, "_") {
		if word != "" {
			first += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return first
}

// label is order_line as Order line.
func label(snake string) string {
	words := strings.ReplaceAll(snake, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}
