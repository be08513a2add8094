package config

import "slices"

// PlanEvents is PLAN_EVENTS alone, for a command that needs nothing else of the
// server's.
func PlanEvents(env Lookup) ([]string, error) {
	r := NewReader(env)
	events := r.planEvents()
	return events, r.Err()
}

// planEvents reads PLAN_EVENTS. The platform's own lifecycle events cannot be
// among them: those say what state a tenant is in, older ones of them become
// void, and subscription.created sets the plan in any case.
func (r *Reader) planEvents() []string {
	events := r.List("PLAN_EVENTS", "subscription.updated")
	for _, lifecycle := range []string{"subscription.created", "tenant.cancelled"} {
		if slices.Contains(events, lifecycle) {
			r.fail("PLAN_EVENTS", "must not name %q, which is a lifecycle event: take it out", lifecycle)
		}
	}
	return events
}
