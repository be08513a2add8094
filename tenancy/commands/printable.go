package commands

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is s as it is, or quoted where it holds what a terminal would obey
// and not show. Whoever prints what may quote data, as PostgreSQL's errors do,
// prints this.
func Printable(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }) < 0 {
		return s
	}
	return strconv.Quote(s)
}

const maxOneLine = 80

// oneLine keeps a table a table.
func oneLine(s string) string {
	line, _, cut := strings.Cut(s, "\n")
	if runes := []rune(line); len(runes) > maxOneLine {
		line, cut = string(runes[:maxOneLine]), true
	}
	if cut {
		line += "…"
	}
	return Printable(line)
}
