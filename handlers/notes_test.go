package handlers_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"example.com/subproduct/handlers"
	"example.com/subproduct/handlers/handlertest"
)

type note struct {
	ID        int64
	Title     string
	CreatedAt string
}

func TestNotes_API(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	acme, globex := site.SignIn(t, "acme"), site.SignIn(t, "globex")

	var first, second note
	created := acme.API(http.MethodPost, "/api/notes", `{"title":" First "}`)
	created.JSON(t, &first)
	acme.API(http.MethodPost, "/api/notes", `{"title":"Second"}`).JSON(t, &second)
	if created.Status != http.StatusCreated || first.Title != "First" || first.CreatedAt == "" {
		t.Errorf("created: %d %s", created.Status, created.Body)
	}
	var list struct{ Notes []note }
	acme.API(http.MethodGet, "/api/notes", "").JSON(t, &list)
	if len(list.Notes) != 2 || list.Notes[0].ID != second.ID {
		t.Errorf("list: %+v, want both, newest first", list)
	}
	path := "/api/notes/" + strconv.FormatInt(first.ID, 10)
	if answer := globex.API(http.MethodDelete, path, ""); answer.Status != http.StatusNotFound {
		t.Errorf("deleted by another tenant: %d, want 404", answer.Status)
	}
	if answer := acme.API(http.MethodDelete, path, ""); answer.Status != http.StatusNoContent {
		t.Errorf("deleted: %d, want 204", answer.Status)
	}
	if answer := acme.API(http.MethodDelete, path, ""); answer.Status != http.StatusNotFound {
		t.Errorf("deleted again: %d, want 404", answer.Status)
	}
	if answer := globex.API(http.MethodGet, "/api/notes", ""); answer.Body != `{"notes":[]}`+"\n" {
		t.Errorf("an empty list is %s", answer.Body)
	}
}

func TestNotes_RefuseBadInput(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	for body, want := range map[string]int{
		`{"title":""}`:       http.StatusUnprocessableEntity,
		`{"title":" \t "}`:   http.StatusUnprocessableEntity,
		`{}`:                 http.StatusUnprocessableEntity,
		`{"title":"\u0000"}`: http.StatusUnprocessableEntity,
		`{"title":"` + strings.Repeat("ä", 200) + `"}`: http.StatusCreated,
		`{"title":"` + strings.Repeat("ä", 201) + `"}`: http.StatusUnprocessableEntity,
		`{"title":7}`:              http.StatusBadRequest,
		`{`:                        http.StatusBadRequest,
		strings.Repeat("x", 2<<20): http.StatusRequestEntityTooLarge,
	} {
		answer := b.API(http.MethodPost, "/api/notes", body)
		if answer.Status != want {
			t.Errorf("%.40s: %d, want %d", body, answer.Status, want)
		}
		if want >= 400 && answer.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%.40s: answered as %s", body, answer.Header.Get("Content-Type"))
		}
	}
	for _, id := range []string{"x", "-1", "0", "99999999999999999999", "1;DROP"} {
		if answer := b.API(http.MethodDelete, "/api/notes/"+id, ""); answer.Status != http.StatusNotFound {
			t.Errorf("delete %s: %d, want 404", id, answer.Status)
		}
	}
	page := b.Post("/notes", url.Values{"title": {strings.Repeat("<b>", 100)}})
	if page.Status != http.StatusUnprocessableEntity || strings.Contains(page.Body, "<b>") || !strings.Contains(page.Body, "&lt;b&gt;") {
		t.Errorf("a form with a bad title: %d; it must come back as it was typed, escaped", page.Status)
	}
}
