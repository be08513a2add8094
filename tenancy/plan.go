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

// plan returns what to execute for the message, where the connection keeps it
// as kept: that, or the tenant's own. Writes are not worth it.
func (b *backend) plan(m *message, kept *pgconn.StatementDescription) (*pgconn.StatementDescription, *plan) {
	if kept == nil || b.plans == nil || !m.statement.reads {
		return kept, nil
	}
	key := planKey{m.statement, m.slug}
	p := b.plans[key]
	switch {
	case p == nil && len(b.plans) >= maxPlans:
		return kept, nil
	case p == nil:
		p = &plan{}
		b.plans[key] = p
	}
	p.uses++
	p.fresh = p.kept == nil && p.uses >= planAfter && b.bytes+planBytes < b.budget()*3/4
	if p.fresh {
		own := *kept
		own.Name = m.statement.name + " " + m.slug.s
		p.kept = &own
		b.bytes += planBytes
	}
	if p.kept == nil {
		return kept, nil
	}
	return p.kept, p
}

// described is what is known of what plan returns: the tenant's own may have been
// made when tables were others.
func (b *backend) described(m *message, kept *pgconn.StatementDescription) *pgconn.StatementDescription {
	if p := b.plans[planKey{m.statement, m.slug}]; p != nil && p.kept != nil {
		return p.kept
	}
	return kept
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
