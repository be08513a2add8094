package handlers

import "example.com/subproduct/handlers/server"

func (s *settings) routes(r server.Routes) {
	r.Public.GET("/", home)
	orders := orders{r.DB, s}
	r.User.GET("/orders", orders.page)
	r.User.GET("/api/orders", orders.list)
	r.User.POST("/api/orders", orders.create)
}
