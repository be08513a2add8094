package handlers

import (
	"net/http"

	"example.com/subproduct/handlers/web"
)

// This file has what the product's own errors answer. A data function returns an
// error of its own; this table has its status and the sentence for the user. An
// error that is not here is 500, and its text stays in the log.

func errorAnswers() []web.ErrorAnswer {
	return []web.ErrorAnswer{
		{Err: errNoNote, Status: http.StatusNotFound, Sentence: "There is no such note."},
	}
}
