package tenancy

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// setExecMode is right behind every pooler.
const setExecMode = "add default_query_exec_mode=exec to the query of DATABASE_URL"

// checkPooler tells whether a pooler stands in between, which hands out process
// numbers of its own, and whether pgx's way to run statements survives it. That
// is tried, not guessed from the pooler's kind: one in session mode keeps
// prepared statements, and so does PgBouncer from 1.21 on where it is told to.
func (db *DB) checkPooler(ctx context.Context, conn *pgx.Conn, backend uint32) Finding {
	mode := conn.Config().DefaultQueryExecMode
	named := strings.ReplaceAll(mode.String(), " ", "_") // as DATABASE_URL spells it
	prepares := mode == pgx.QueryExecModeCacheStatement || mode == pgx.QueryExecModeDescribeExec
	switch {
	case conn.PgConn().PID() == backend:
		return Finding{Name: CheckPooler, Severity: OK, Sentence: "no pooler in between"}
	case prepares && db.losesStatements(ctx):
		return Finding{CheckPooler, Failure, "there is a pooler in between that gives one client's statements to another connection: " +
			"with the execution mode " + named + " most requests would fail", setExecMode}
	case mode == pgx.QueryExecModeDescribeExec || mode == pgx.QueryExecModeCacheDescribe:
		return Finding{CheckPooler, Warning, "there is a pooler in between, and the execution mode " + named + " is not the one that is tested with it", setExecMode}
	}
	return Finding{Name: CheckPooler, Severity: OK, Sentence: "there is a pooler in between, and the execution mode " + named + " works with it"}
}

const (
	// poolerTimeout bounds the trial: a pooler with one connection to the server
	// lets a second client wait for longer than anybody would.
	poolerTimeout = 2 * time.Second
	// poolerTrials are several, for other clients of a pooler move its
	// connections around meanwhile.
	poolerTrials = 3
	// trialStatement has always the same name, so that meeting that of another
	// client is seen too.
	trialStatement = "checkup_trial"
)

// losesStatements reports whether it has seen a prepared statement get lost. A
// second client takes the backend that has prepared it: where the first one
// then works on another, a pooler in transaction mode stands in between. What
// cannot be found out counts as not lost: a server that works is never refused.
func (db *DB) losesStatements(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, poolerTimeout)
	defer cancel()
	for range poolerTrials {
		if db.losesStatement(ctx) {
			return true
		}
	}
	return false
}

func (db *DB) losesStatement(ctx context.Context) bool {
	first, err := db.connect(ctx)
	if err != nil {
		return false
	}
	defer closeConn(ctx, first)
	second, err := db.connect(ctx)
	if err != nil {
		return false
	}
	defer closeConn(ctx, second)
	if _, err := first.PgConn().Prepare(ctx, trialStatement, `SELECT`, nil); err != nil {
		return sqlState(err) == codeStatementThere
	}
	if _, err := second.PgConn().Exec(ctx, `BEGIN; SELECT`).ReadAll(); err != nil {
		return false
	}
	err = first.PgConn().ExecPrepared(ctx, trialStatement, nil, nil, nil).Read().Err
	_, _ = second.PgConn().Exec(ctx, `ROLLBACK`).ReadAll() // else the pooler would close the backend
	return sqlState(err) == codeNoStatement
}
