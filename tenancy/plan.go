package tenancy

import (
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
)

// A statement's plan is thrown away whenever it is used under another
// search_path than the last time. A tenant that sends a statement again and
// again over one connection therefore gets it prepared once more, under a name
// of its own: PostgreSQL then keeps a plan for that tenant.

// planAfter is with which use that happens: after replanning has cost about as
// much as it does, so that it is never far more than without.
const planAfter = 3

// maxPlans bounds the bookkeeping of a connection, used once or not.
const maxPlans = 20_000

type planKey struct {
	statement *statement
	slug      Slug
}

// plan is a statement for one tenant on one connection.
type plan struct {
	uses  int
	kept  *pgconn.StatementDescription // nil: not yet
	fresh bool                         // it is being made with this message
}

// planOf is the plan of the message's statement for its tenant, made or not; nil
// where the connection keeps none. Writes are not worth it.
func (b *backend) planOf(m *message, kept *pgconn.StatementDescription) *plan {
	if kept == nil || b.plans == nil || !m.statement.reads {
		return nil
	}
	key := planKey{m.statement, m.slug}
	p := b.plans[key]
	if p == nil && len(b.plans) < maxPlans {
		p = &plan{}
		b.plans[key] = p
	}
	return p
}

// of is what to execute: the tenant's own, which may have been described when
// tables were others, or the statement as the connection keeps it.
func (p *plan) of(kept *pgconn.StatementDescription) *pgconn.StatementDescription {
	if p == nil || p.kept == nil {
		return kept
	}
	return p.kept
}

// use counts a use with which the plan is made when it is worth it.
func (b *backend) use(p *plan, m *message, kept *pgconn.StatementDescription) {
	if p == nil {
		return
	}
	p.uses++
	p.fresh = p.kept == nil && p.uses >= planAfter && b.bytes+planBytes < b.budget()*3/4
	if p.fresh {
		own := *kept
		own.Name = m.statement.name + " " + m.slug.s
		p.kept = &own
		b.bytes += planBytes
	}
}

// send queues the making of a plan.
func (p *plan) send(to *pgconn.Pipeline, m *message) {
	if p != nil && p.fresh {
		to.SendDeallocate(p.kept.Name) // one that is stale; none is no error
		to.SendPrepare(p.kept.Name, m.statement.sql, nil)
	}
}

// made reads the answer. The statement's own description was used before this
// one was known: where they differ its rows would be read wrongly.
func (p *plan) made(from *pgconn.Pipeline) error {
	if p == nil || !p.fresh {
		return nil
	}
	p.fresh = false
	if err := skip(from, 1); err != nil {
		return err
	}
	answer, err := from.GetResults()
	made, ok := answer.(*pgconn.StatementDescription)
	switch {
	case err != nil:
		return err
	case !ok || !slices.Equal(made.ParamOIDs, p.kept.ParamOIDs) || !slices.EqualFunc(made.Fields, p.kept.Fields, sameField):
		return errStalePlan
	}
	return nil
}

func sameField(a, b pgconn.FieldDescription) bool {
	return a.Name == b.Name && a.DataTypeOID == b.DataTypeOID
}

// errStalePlan is PostgreSQL's own, as it would have been.
var errStalePlan = &pgconn.PgError{Severity: "ERROR", Code: codeStalePlan, Message: "cached plan must not change result type"}

// drop forgets how the statement is kept, for it is described anew.
func (b *backend) drop(m *message) {
	delete(b.known, m.statement.name)
	delete(b.plans, planKey{m.statement, m.slug})
}
