package handlers

import "example.com/subproduct/handlers/server"

func routes(r server.Routes) {
	orderLines := orderLines{r.DB}
	r.User.GET("/order-lines", orderLines.index)
	r.User.POST("/order-lines", orderLines.submit)
	r.User.GET("/order-lines/new", orderLines.blank)
	r.User.GET("/order-lines/:id", orderLines.show)
	r.User.POST("/order-lines/:id", orderLines.submitEdit)
	r.User.GET("/order-lines/:id/edit", orderLines.edit)
	r.User.GET("/order-lines/:id/delete", orderLines.confirm)
	r.User.POST("/order-lines/:id/delete", orderLines.submitDelete)
	r.User.GET("/api/order-lines", orderLines.list)
	r.User.POST("/api/order-lines", orderLines.create)
	r.User.GET("/api/order-lines/:id", orderLines.get)
	r.User.PATCH("/api/order-lines/:id", orderLines.patch)
	r.User.DELETE("/api/order-lines/:id", orderLines.delete)
}
