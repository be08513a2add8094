package tenancy

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// whyVoid says why an event must have no effect, or nothing. One is void when
// a later event of its tenant overrode it before it was even stored, and when
// it is a late redelivery of what the tenant's cancellation has ended.
func (in *Inbox) whyVoid(ctx context.Context, tx pgx.Tx, e Event) (string, error) {
	var why string
	err := tx.QueryRow(ctx, `
		SELECT coalesce(
			(SELECT 'void: overridden by event ' || max(n.id) FROM public.webhook_events n
			 WHERE n.tenant_slug = $1 AND n.id > $2 AND n.status = 'done' AND n.event_type = ANY ($3)),
			(SELECT 'void: a redelivery of event ' || min(o.id) || ', from before the tenant was cancelled'
			 FROM public.webhook_events o JOIN public.webhook_events e ON e.id = $2
			 JOIN public.tenants t ON t.slug = $1 AND t.status = 'cancelled'
			 WHERE o.body_sha256 = e.body_sha256 AND NOT o.newest AND o.id < e.id AND o.received_at <= t.cancelled_at),
			'')`, e.Tenant.s, e.ID, in.types(overrides)).Scan(&why)
	return why, err
}

func overrides(h EventHandler) bool { return h.Overrides }
func newTenant(h EventHandler) bool { return h.NewTenant }

// types lists the event types whose handlers are so.
func (in *Inbox) types(are func(EventHandler) bool) []string {
	types := []string{}
	for eventType, h := range in.handlers {
		if are(h) {
			types = append(types, eventType)
		}
	}
	return types
}
