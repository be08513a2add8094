package tenancy

import (
	"slices"
	"strings"
)

// splitSQL cuts a file into its statements, without comments around them. It
// knows what a semicolon does not end: strings, quoted names, dollar quotes,
// comments (which nest), parentheses, and the body of a function written as
// BEGIN ATOMIC … END.
func splitSQL(sql string) []string {
	s := splitter{sql: sql}
	for s.at < len(sql) {
		s.step()
	}
	s.cut(len(sql))
	return s.statements
}

type splitter struct {
	sql        string
	at, start  int
	parens     int
	words      []string // of the statement, as far as they matter
	blocks     int      // open BEGIN ATOMIC and CASE in a function's body
	statements []string
}

func (s *splitter) step() {
	rest := s.sql[s.at:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "--"):
		s.skip(lineEnd(rest))
	case strings.HasPrefix(rest, "/*"):
		s.skip(commentEnd(rest))
	case c == '\'':
		s.at += quoteEnd(rest, '\'', s.escapes())
	case c == '"':
		s.at += quoteEnd(rest, '"', false)
	case c == '$':
		s.at += dollarEnd(rest)
	case c == '(':
		s.parens++
		s.at++
	case c == ')':
		s.parens--
		s.at++
	case c == ';' && s.parens <= 0 && s.blocks == 0:
		s.cut(s.at)
		s.at++
		s.start, s.words = s.at, nil
	case isWord(c):
		n := wordEnd(rest)
		s.word(strings.ToLower(rest[:n]))
		s.at += n
	default:
		s.at++
	}
}

// skip passes over a comment; one in front of a statement is not part of it.
func (s *splitter) skip(n int) {
	if strings.TrimSpace(s.sql[s.start:s.at]) == "" {
		s.start = s.at + n
	}
	s.at += n
}

func (s *splitter) cut(end int) {
	if statement := strings.TrimSpace(s.sql[s.start:end]); statement != "" {
		s.statements = append(s.statements, statement)
	}
}

// word keeps the first words, which tell a function, and counts its blocks.
func (s *splitter) word(w string) {
	if len(s.words) < 4 {
		s.words = append(s.words, w)
	}
	if len(s.words) == 0 || s.words[0] != "create" || !isRoutine(s.words) {
		return
	}
	switch {
	case w == "begin", w == "case" && s.blocks > 0:
		s.blocks++
	case w == "end" && s.blocks > 0:
		s.blocks--
	}
}

func isRoutine(words []string) bool {
	return slices.Contains(words[1:], "function") || slices.Contains(words[1:], "procedure")
}

// escapes reports whether the quote that begins here is an E'…' string.
func (s *splitter) escapes() bool {
	if s.at == 0 || s.sql[s.at-1] != 'e' && s.sql[s.at-1] != 'E' {
		return false
	}
	return s.at == 1 || !isWord(s.sql[s.at-2])
}

func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// wordEnd and the functions below return the length of what s begins with.
func wordEnd(s string) int {
	n := 1
	for n < len(s) && (isWord(s[n]) || s[n] == '$') {
		n++
	}
	return n
}

func lineEnd(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n + 1
	}
	return len(s)
}

func commentEnd(s string) int {
	depth := 0
	for n := 0; n < len(s); n++ {
		switch {
		case strings.HasPrefix(s[n:], "/*"):
			depth++
			n++
		case strings.HasPrefix(s[n:], "*/"):
			depth--
			n++
			if depth == 0 {
				return n + 1
			}
		}
	}
	return len(s)
}

func quoteEnd(s string, quote byte, escapes bool) int {
	for n := 1; n < len(s); n++ {
		switch {
		case escapes && s[n] == '\\':
			n++
		case s[n] == quote && n+1 < len(s) && s[n+1] == quote:
			n++
		case s[n] == quote:
			return n + 1
		}
	}
	return len(s)
}

func dollarEnd(s string) int {
	n := 1
	for n < len(s) && isWord(s[n]) {
		n++
	}
	if n == len(s) || s[n] != '$' || n > 1 && '0' <= s[1] && s[1] <= '9' {
		return 1 // a parameter, or nothing
	}
	tag := s[:n+1]
	if end := strings.Index(s[len(tag):], tag); end >= 0 {
		return len(tag) + end + len(tag)
	}
	return len(s)
}
