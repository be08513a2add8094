package tenancy

import (
	"errors"
	"regexp"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATEs that mean something here.
const (
	codeStalePlan     = "0A000" // cached plan must not change result type
	codeMissingSchema = "3F000"
	codeMissingTable  = "42P01"
	codeLockTimeout   = "55P03"
	codeForeignKey    = "23503"
	codeRestrict      = "23001" // the same of ON DELETE RESTRICT, from PostgreSQL 18 on
	codeUnique        = "23505"
	codeExclusion     = "23P01"
	codeCheck         = "23514"
	codeNotNull       = "23502"
	codeBadData       = "22000" // a range that ends before it begins
	codeTooLong       = "22001" // for varchar(n)
	codeOutOfRange    = "22003"
	codeBadTime       = "22007" // text that is no date or time
	codeNoSuchTime    = "22008" // a date or a time that is out of range
	codeBadEncoding   = "22021" // of text in a COPY
	codeBadEscape     = "22025" // in LIKE
	codeBadRegexp     = "2201B"
	codeBadText       = "22P02" // text that is no number, no UUID, none of an enum
	codeBadUnicode    = "22P05" // in JSON
	codeReadOnly      = "25006"
	codeCancelled     = "57014" // also by statement_timeout, and of a COPY whose sender fails
	codeSerialization = "40001"
	codeDeadlock      = "40P01"
	// Only beginActive divides.
	codeDivisionByZero = "22012"
	// A prepared statement is not there, or is there already.
	codeNoStatement    = "26000"
	codeStatementThere = "42P05"
)

// IsUnique reports whether err is a violation of a unique constraint, or of its
// general form, EXCLUDE: another row is in the way. It and its sisters go by
// SQLSTATE: not every server names the constraint (Citus).
func IsUnique(err error) bool {
	return sqlState(err) == codeUnique || sqlState(err) == codeExclusion
}

// IsForeignKey reports whether err is a violation of a foreign key: what a row
// refers to is not there, or what is deleted is still referred to.
func IsForeignKey(err error) bool {
	return sqlState(err) == codeForeignKey || sqlState(err) == codeRestrict
}

// IsCheck reports whether err is a violation of a CHECK constraint.
func IsCheck(err error) bool { return sqlState(err) == codeCheck }

// Constraint is the name of the constraint that err violates; empty where it
// violates none, and where the server does not name it, as Citus does not.
func Constraint(err error) string { return serverError(err).ConstraintName }

// IsBadValue reports whether err is a value that cannot be taken: one that a CHECK
// refuses, that is missing, too long or out of range, that is no text of its
// column's type, or that could not be sent in a COPY.
func IsBadValue(err error) bool {
	switch sqlState(err) {
	case codeCheck, codeNotNull, codeTooLong, codeOutOfRange, codeBadData, codeBadTime, codeNoSuchTime, codeBadText,
		codeBadEncoding, codeBadUnicode, codeBadEscape, codeBadRegexp:
		return true
	}
	return isFailedCopy(err) || err != nil && unsendable.MatchString(err.Error())
}

// isFailedCopy reports whether err is what PostgreSQL says of a COPY that its
// sender has ended, for it had no way to write a value: the same SQLSTATE as of a
// statement that was over its time, from another place.
func isFailedCopy(err error) bool {
	e := serverError(err)
	return e.Code == codeCancelled && e.Routine == "CopyGetData"
}

// unsendable is a whole number that is out of range, which pgx finds before it
// sends it, and has no error for.
var unsendable = regexp.MustCompile(`failed to encode args\[\d+\]: .* is (greater than maximum|less than minimum) value for int[248]$`)

// IsLockTimeout reports whether a statement has waited too long for another
// transaction, and so had no effect.
func IsLockTimeout(err error) bool { return sqlState(err) == codeLockTimeout }

// IsContention reports whether another transaction was in the way of a statement,
// which so had no effect: a deadlock, a conflict of serializable transactions, or
// a wait that was too long. The same request may succeed in a moment.
func IsContention(err error) bool { return isBroken(err) || IsLockTimeout(err) }

// isBroken reports whether PostgreSQL has ended a transaction for another's sake.
func isBroken(err error) bool {
	return sqlState(err) == codeDeadlock || sqlState(err) == codeSerialization
}

func sqlState(err error) string { return serverError(err).Code }

// serverError is what PostgreSQL has answered, and notServers where err is none of
// its errors.
func serverError(err error) *pgconn.PgError {
	answered := notServers
	errors.As(err, &answered)
	return answered
}

var notServers = &pgconn.PgError{}

// maxErrorText bounds what is kept of an error, in bytes.
const maxErrorText = 4000

// StorableError is an error's text as PostgreSQL can store it: valid UTF-8
// without NUL, and not endless.
func StorableError(err error) string {
	text := err.Error()
	if len(text) > maxErrorText {
		text = text[:maxErrorText] + "…"
	}
	return storable(text)
}
