package handlers

import (
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/schema"
	"example.com/subproduct/static"
	"example.com/subproduct/templates"
)

// Product is a product that has nothing of the sample.
func Product() server.Product {
	s := &settings{}
	return server.Product{
		Name: "Orders", Slug: "orders",
		Templates: templates.FS, Static: static.FS, TenantSchema: schema.Tenant(), SharedSchema: schema.Shared(),
		Settings: s.read, Routes: s.routes, Events: events(), Errors: errorAnswers(), Commands: commands(),
	}
}
