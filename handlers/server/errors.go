package server

import (
	"net/http"

	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
)

// errorAnswers maps the template's own errors to answers. Whatever stands
// neither here nor in the product's table is 500, and its text stays in the
// log.
func errorAnswers() []web.ErrorAnswer {
	return []web.ErrorAnswer{
		{Err: tenancy.ErrTenantCancelled, Status: http.StatusForbidden, Sentence: "This workspace was cancelled."},
		{Err: tenancy.ErrSessionEnded, Status: http.StatusUnauthorized, Sentence: "Sign in first."},
		{Err: tenancy.ErrNoTenant, Status: http.StatusUnauthorized, Sentence: "Sign in first."},
		{Err: tenancy.ErrUnknownTenant, Status: http.StatusNotFound, Sentence: "There is no such workspace."},
		{Err: tenancy.ErrNotMigrated, Status: http.StatusServiceUnavailable, Sentence: "This workspace is being updated. Try again in a moment."},
		{Err: tenancy.ErrBusy, Status: http.StatusServiceUnavailable, Sentence: "This workspace is busy. Try again in a moment."},
		{Err: tenancy.ErrBadLink, Status: http.StatusNotFound, Sentence: "This link is not valid, or not any more."},
		{Err: tenancy.ErrSchemaMissing, Status: http.StatusServiceUnavailable, Sentence: "This workspace is not ready. Try again in a moment."},
		{When: tenancy.IsUnavailable, Status: http.StatusServiceUnavailable, Sentence: "The database does not answer right now. Try again in a moment."},
		{When: tenancy.IsContention, Status: http.StatusServiceUnavailable, Sentence: "Somebody else is changing the same. Try again in a moment."},
		{When: tenancy.IsForeignKey, Status: http.StatusConflict, Sentence: "Something else refers to this, or this refers to something that is not there."},
		{When: tenancy.IsUnique, Status: http.StatusConflict, Sentence: "This is there already."},
		{When: tenancy.IsBadValue, Status: http.StatusUnprocessableEntity, Sentence: "A value is not allowed here."},
	}
}
