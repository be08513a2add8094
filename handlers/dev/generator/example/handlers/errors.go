package handlers

import (
	"net/http"

	"example.com/subproduct/handlers/web"
)

func errorAnswers() []web.ErrorAnswer {
	return []web.ErrorAnswer{
		{Err: errNoOrderLine, Status: http.StatusNotFound, Sentence: "There is no such order line."},
	}
}
