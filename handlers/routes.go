package handlers

import "example.com/subproduct/handlers/server"

// This file has every URL of the product with its handler, and nothing else. The
// template's own URLs are in server/routes.go.

func routes(r server.Routes) {
	// Anybody may ask for these; session.From says who is signed in.
	r.Public.GET("/", home)

	// Below, somebody is signed in: r.DB works on the data of their tenant.

	notes := notes{r.DB}
	r.User.GET("/notes", notes.index)
	r.User.POST("/notes", notes.submit)
	r.User.GET("/notes/new", notes.blank)
	r.User.GET("/notes/:id", notes.show)
	r.User.POST("/notes/:id", notes.submitEdit)
	r.User.GET("/notes/:id/edit", notes.edit)
	r.User.GET("/notes/:id/delete", notes.confirm)
	r.User.POST("/notes/:id/delete", notes.submitDelete)
	r.User.GET("/api/notes", notes.list)
	r.User.POST("/api/notes", notes.create)
	r.User.GET("/api/notes/:id", notes.get)
	r.User.PATCH("/api/notes/:id", notes.patch)
	r.User.DELETE("/api/notes/:id", notes.delete)
}
