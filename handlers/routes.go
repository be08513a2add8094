package handlers

import "example.com/subproduct/handlers/server"

// This file has every URL of the product with its handler, and nothing else. The
// template's own URLs are in server/routes.go.

func routes(r server.Routes) {
	// Anybody may ask for these; session.From says who is signed in.
	r.Public.GET("/", home)

	// Somebody is signed in: r.DB works on the data of their tenant.
	notes := notes{r.DB}
	r.User.GET("/notes", notes.page)
	r.User.POST("/notes", notes.submit)
	r.User.POST("/notes/:id/delete", notes.submitDelete)
	r.User.GET("/api/notes", notes.list)
	r.User.POST("/api/notes", notes.create)
	r.User.DELETE("/api/notes/:id", notes.delete)
}
