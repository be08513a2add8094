package handlers

import "example.com/subproduct/handlers/server"

func routes(r server.Routes) {}
