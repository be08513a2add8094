package tenancy

import (
	"context"
	"fmt"
	"time"
)

// statementGrace is how much longer than its context a statement may take: the
// context's own end has it cancelled, and that is the better way.
const statementGrace = time.Second

// statementTimeout is the end of a message that opens a transaction: the server
// ends by itself what nobody will wait for any more, also where the request to
// cancel cannot reach it. Work without a deadline has no limit. As a startup
// parameter it would be refused by a pooler.
func statementTimeout(ctx context.Context) string {
	deadline, limited := ctx.Deadline()
	if !limited {
		return ""
	}
	left := max(time.Until(deadline), 0) + statementGrace
	return fmt.Sprintf("; SET LOCAL statement_timeout TO %d", left.Milliseconds())
}
