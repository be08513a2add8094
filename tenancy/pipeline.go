package tenancy

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errEnter says that a message failed before the product's statement in it: the
// statement had no effect.
var errEnter = errors.New("the transaction could not be opened")

// message is one statement of the product's with what goes before and after it,
// up to one Sync: one round trip, and one transaction where none is open.
type message struct {
	begins, enters bool // BEGIN, which is unset when it was sent; the tenant's search_path
	slug           Slug
	id             int64 // of the tenant
	statement      *statement
	args           []any
	after          []command
}

// send sends the message and returns the statement's rows, whose end reads the
// rest. A statement that this connection does not know is prepared first, on the
// tenant's search_path, in a round trip of its own. An error before the
// statement wraps errEnter.
func (b *backend) send(ctx context.Context, m *message) (*rows, error) {
	var kept *pgconn.StatementDescription
	if b.keeps {
		var err error
		if kept, err = b.prepared(ctx, m); err != nil {
			return nil, err
		}
	}
	plan := b.planOf(m, kept)
	var q pgx.ExtendedQueryBuilder
	if err := q.Build(b.conn.TypeMap(), plan.of(kept), m.args); err != nil {
		return nil, err
	}
	b.use(plan, m, kept) // last: a plan that is counted as made is sent
	kept = plan.of(kept)
	p := b.conn.PgConn().StartPipeline(ctx)
	before := m.open(ctx, p, b)
	plan.send(p, m)
	if kept != nil {
		p.SendQueryStatement(kept, q.ParamValues, q.ParamFormats, q.ResultFormats)
	} else {
		p.SendQueryParams(m.statement.sql, q.ParamValues, nil, q.ParamFormats, q.ResultFormats)
	}
	for _, c := range m.after {
		c.send(p)
	}
	if err := p.Sync(); err != nil {
		return nil, err
	}
	m.begins = false
	if err := opened(p, before, m.enters); err != nil {
		b.drop(m) // a plan was perhaps not made
		return nil, errors.Join(fmt.Errorf("%w: %w", errEnter, err), closed(p))
	}
	if err := plan.made(p); err != nil {
		b.drop(m)
		return nil, errors.Join(err, closed(p))
	}
	answer, err := p.GetResults()
	result, ok := answer.(*pgconn.ResultReader)
	if !ok {
		if sqlState(err) == codeStalePlan {
			b.drop(m)
		}
		return nil, errors.Join(err, closed(p))
	}
	return &rows{Rows: pgx.RowsFromResultReader(b.conn.TypeMap(), result), rest: func() error { return finish(p) }}, nil
}

// open queues what goes before the statement and returns how many answers it
// has.
func (m *message) open(ctx context.Context, p *pgconn.Pipeline, b *backend) (answers int) {
	if m.begins {
		b.begin.send(p)
		answers++
	}
	if m.enters && !b.direct {
		command{sql: `DISCARD TEMP`}.send(p)
		answers++
	}
	if m.enters {
		b.enter[m.entrance()].send(p, m.arguments(ctx)...)
		answers++
	}
	return answers
}

// prepared returns the statement as it is kept on the connection.
func (b *backend) prepared(ctx context.Context, m *message) (*pgconn.StatementDescription, error) {
	name := m.statement.name
	if kept := b.known[name]; kept != nil {
		return kept, nil
	}
	p := b.conn.PgConn().StartPipeline(ctx)
	before := m.open(ctx, p, b)
	p.SendDeallocate(name) // one that is stale; none is no error
	p.SendPrepare(name, m.statement.sql, nil)
	if err := p.Sync(); err != nil {
		return nil, err
	}
	// The transaction that BEGIN was sent for is the one that goes on.
	entered := m.enters
	m.enters = m.enters && !m.begins
	m.begins = false
	if err := opened(p, before, entered); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", errEnter, err), closed(p))
	}
	if err := skip(p, 1); err != nil {
		return nil, errors.Join(err, closed(p))
	}
	answer, err := p.GetResults()
	kept := named(answer, name)
	if err := errors.Join(err, closed(p)); err != nil {
		return nil, err
	}
	b.remember(name, kept)
	return kept, nil
}

// opened reads the answers of what goes before the statement, whose last, where
// the tenant was entered, has a row for an active one.
func opened(p *pgconn.Pipeline, answers int, entered bool) error {
	if !entered {
		return skip(p, answers)
	}
	if err := skip(p, answers-1); err != nil {
		return err
	}
	_, tag, err := read(p)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrTenantCancelled
	}
	return err
}

// skip reads answers that nobody is interested in.
func skip(p *pgconn.Pipeline, answers int) error {
	for range answers {
		if _, _, err := read(p); err != nil {
			return err
		}
	}
	return nil
}

// read reads an answer to its end.
func read(p *pgconn.Pipeline) (answer any, tag pgconn.CommandTag, err error) {
	answer, err = p.GetResults()
	if result, ok := answer.(*pgconn.ResultReader); ok {
		tag, err = result.Close()
	}
	return answer, tag, err
}

// finish reads what follows the statement, and returns the first error of it:
// the transaction's too, where the message was one.
func finish(p *pgconn.Pipeline) error {
	var first error
	for {
		answer, _, err := read(p)
		first = cmp.Or(first, err)
		_, synced := answer.(*pgconn.PipelineSync)
		if synced || answer == nil && err == nil || err != nil && sqlState(err) == "" {
			return errors.Join(first, closed(p))
		}
	}
}

// closed ends a pipeline; the error that the server has answered is known.
func closed(p *pgconn.Pipeline) error {
	if err := p.Close(); err != nil && sqlState(err) == "" {
		return err
	}
	return nil
}
