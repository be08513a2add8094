package handlers

import (
	"net/http"

	"example.com/subproduct/handlers/web"
)

func errorAnswers() []web.ErrorAnswer {
	return []web.ErrorAnswer{{Err: errEmptyOrder, Status: http.StatusUnprocessableEntity, Sentence: "An order has a customer and lines."}}
}
