package tenancy

import (
	"context"
	"strconv"
	"time"
)

// statementGrace is how much longer than its context a statement may take: the
// context's own end has it cancelled, and that is the better way.
const statementGrace = time.Second

// limitSQL sets a transaction's statement_timeout to $4; empty: as it is.
const limitSQL = `set_config('statement_timeout', coalesce(nullif($4, ''), current_setting('statement_timeout')), true)`

// statementLimit is the statement_timeout of a transaction, in milliseconds: the
// server ends by itself what nobody will wait for any more, also where the
// request to cancel cannot reach it. Work without a deadline has no limit. As a
// startup parameter it would be refused by a pooler.
func statementLimit(ctx context.Context) []byte {
	deadline, limited := ctx.Deadline()
	if !limited {
		return []byte{}
	}
	left := max(time.Until(deadline), 0) + statementGrace
	return strconv.AppendInt(nil, left.Milliseconds(), 10)
}

// idleLimit is the idle_in_transaction_session_timeout of work without a deadline,
// in milliseconds: longer than an attempt of a job or of an event takes.
const idleLimit = `360000`

// idleSQL ends the transaction of a process that stops in the middle of it, frozen
// or with its host lost, soon after its deadline: its locks do not outlive it.
const idleSQL = `, set_config('idle_in_transaction_session_timeout', coalesce(nullif($4, ''), '` + idleLimit + `'), true)`

// limits are both as the end of a message of text.
func limits(ctx context.Context) string {
	limit := string(statementLimit(ctx))
	if limit == "" {
		return "; SET LOCAL idle_in_transaction_session_timeout TO " + idleLimit
	}
	return "; SET LOCAL statement_timeout TO " + limit + "; SET LOCAL idle_in_transaction_session_timeout TO " + limit
}
