package tenancy

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// statement is an SQL text of the product's.
type statement struct {
	sql   string
	name  string // of what is prepared for it, on every connection
	reads bool   // it leaves nothing on its connection: see leavesNothing
}

// maxStatements bounds what is kept of texts. A product that builds its SQL
// from parts may have more: the rest is prepared by pgx, each time in a
// transaction of its own.
const maxStatements = 2000

// statements are the texts that this process has met.
type statements struct {
	all sync.Map // SQL → *statement
	n   atomic.Int64
	// ownRoutines: the product has functions of its own, which an operator, a
	// cast, an attribute or an overload may call. No statement is known to be a
	// read then.
	ownRoutines bool
}

// get returns the statement of a text, or nil where there are too many.
func (s *statements) get(sql string) *statement {
	if known, ok := s.all.Load(sql); ok {
		return known.(*statement)
	}
	n := s.n.Add(1)
	if n > maxStatements {
		s.n.Add(-1)
		return nil
	}
	known, _ := s.all.LoadOrStore(sql, &statement{sql, "s" + strconv.FormatInt(n, 10), !s.ownRoutines && leavesNothing(sql)})
	return known.(*statement)
}

var (
	// sqlcHeading is the comment that sqlc puts before its statements.
	sqlcHeading = regexp.MustCompile(`^(\s*--[^\n]*\n)+`)
	readWord    = regexp.MustCompile(`(?i)^\s*(SELECT|WITH)\b`)
	writeWord   = regexp.MustCompile(`(?i)\b(INTO|INSERT|UPDATE|DELETE|MERGE)\b`)
	callWord    = regexp.MustCompile(`([^\s(,=<>+*/|-]*)\s*\(`)
)

// harmless are the functions and the words before a parenthesis that change
// nothing but the statement's result.
var harmless = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`
		select from where and or not in exists any all some as on using with values case when then else over filter
		within by limit offset fetch having union except intersect distinct lateral array row between like ilike is
		count sum min max avg array_agg string_agg json_agg jsonb_agg json_object_agg jsonb_object_agg bool_and bool_or every
		row_number rank dense_rank lag lead first_value last_value ntile
		coalesce nullif greatest least cast extract date_trunc date_part now to_char to_date to_timestamp age make_date
		lower upper trim btrim ltrim rtrim length char_length substring left right replace position split_part strpos concat concat_ws
		format md5 abs round ceil ceiling floor trunc mod numeric text unnest generate_series array_length cardinality
		json_build_object jsonb_build_object json_build_array jsonb_build_array to_json to_jsonb row_to_json
		to_tsvector to_tsquery plainto_tsquery websearch_to_tsquery ts_rank similarity starts_with`) {
		words[word] = true
	}
	return words
}()

// leavesNothing reports whether a statement can have no effect that outlives it
// on its connection: no setting, no lock, no temporary table, no last value of a
// sequence. It errs on one side alone: whatever is not known to be harmless may
// leave something, and what follows it then clears the connection. What it cannot
// see is how a function of the product's own is called: see ownRoutines.
func leavesNothing(sql string) bool {
	sql = sqlcHeading.ReplaceAllString(sql, "")
	if !readWord.MatchString(sql) || writeWord.MatchString(sql) ||
		strings.Contains(sql, "--") || strings.Contains(sql, "/*") {
		return false
	}
	for _, call := range callWord.FindAllStringSubmatch(sql, -1) {
		if call[1] != "" && !harmless[strings.ToLower(call[1])] {
			return false
		}
	}
	return true
}

var (
	makesRoutine = regexp.MustCompile(`(?i)\bcreate\s+(or\s+replace\s+)?(function|procedure)\b`)
	ofTrigger    = regexp.MustCompile(`(?i)^create\s+(or\s+replace\s+)?function\b[^;]*?\breturns\s+trigger\b`)
)

// makesRoutines reports whether the files make a function or a procedure that
// statements can call: any but a trigger's.
func (m *migrations) makesRoutines() bool {
	for _, file := range m.files {
		for _, sql := range splitSQL(file.sql) {
			if makesRoutine.MatchString(sql) && !ofTrigger.MatchString(sql) {
				return true
			}
		}
	}
	return false
}
