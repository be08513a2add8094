package server

import (
	"maps"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/tenancy/inbox"
)

// handlers are the product's, and those that the server has for the types in
// PLAN_EVENTS, for a command that asks which types have one.
func (c CLI) handlers() (inbox.Handlers, error) {
	events, err := configured(c, config.PlanEvents)
	if err != nil {
		return nil, err
	}
	all := inbox.Handlers{}
	for _, name := range events {
		all[name] = inbox.Handler{}
	}
	maps.Copy(all, c.Product.Events)
	return all, nil
}
