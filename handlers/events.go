package handlers

import "example.com/subproduct/tenancy/inbox"

// eventHandlers is what the product does with each type of event. A type that
// is not here is stored as ignored. Add yours; README.md shows how.
func eventHandlers() inbox.Handlers { return inbox.Handlers{} }
