// Package handlers is the product: its name, its routes, its pages, its API, and
// what it does when the platform sends an event. The files in this folder are
// yours to change, and so are folders of your own below it (see README.md).
package handlers

import (
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/schema"
	"example.com/subproduct/static"
	"example.com/subproduct/templates"
)

// Product returns the product: the value that the server, dev, tests and
// commands are given. It has the name and lists the parts; each part has a file
// of its own. Every call returns a fresh value.
func Product() server.Product {
	var s settings
	return server.Product{
		Name: "Subproduct",
		Slug: "subproduct",

		Templates:    templates.FS,
		Static:       static.FS,
		TenantSchema: schema.Tenant(),
		SharedSchema: schema.Shared(),

		Settings:   s.read,
		Routes:     routes,
		Events:     events(),
		Errors:     errorAnswers(),
		Commands:   commands(),
		Jobs:       declareJobs,
		Background: background,
	}
}
