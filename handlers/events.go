package handlers

import (
	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/tenancy"
)

// eventHandlers is what the product does with each type of event. A type that
// is not here is stored as ignored. Add yours; README.md shows how.
func (a *App) eventHandlers() tenancy.EventHandlers {
	return tenancy.EventHandlers{
		platform.SubscriptionCreated: {Apply: a.DB.OnSubscriptionCreated, NewTenant: true},
		platform.TenantCancelled:     {Apply: a.DB.OnTenantCancelled, NewTenant: true, Overrides: true},
	}
}
