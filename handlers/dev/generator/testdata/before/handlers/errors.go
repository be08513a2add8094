package handlers

import "example.com/subproduct/handlers/web"

func errorAnswers() []web.ErrorAnswer { return []web.ErrorAnswer{} }
