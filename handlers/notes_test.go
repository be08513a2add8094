package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/subproduct/handlers"
	"example.com/subproduct/handlers/handlertest"
)

// Three notes, as a program sends them.
const (
	firstNote  = `{"title":"First title"}`
	secondNote = `{"title":"Second title"}`
	thirdNote  = `{"title":"Third title"}`
)

func TestNotes_API(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	first := b.API(http.MethodPost, "/api/notes", firstNote)
	second := b.API(http.MethodPost, "/api/notes", secondNote)
	if first.Status != http.StatusCreated || second.Status != http.StatusCreated {
		t.Fatalf("%d %s, then %d %s", first.Status, first.Body, second.Status, second.Body)
	}
	var one struct{ ID int64 }
	first.JSON(t, &one)
	path := fmt.Sprintf("/api/notes/%d", one.ID)
	given := strings.TrimSuffix(firstNote, "}") // and what is added to it
	if got := b.Get(path); got.Body != first.Body || !strings.Contains(got.Body, given[1:]) || got.Header.Get("ETag") != first.Header.Get("ETag") {
		t.Errorf("read: %d %s, created: %s", got.Status, got.Body, first.Body)
	}

	var list struct {
		Notes []struct{ ID int64 }
		Next  string
	}
	b.Get("/api/notes?limit=1").JSON(t, &list)
	if len(list.Notes) != 1 || list.Notes[0].ID <= one.ID || list.Next == "" {
		t.Errorf("the newest: %+v", list)
	}
	b.Get("/api/notes?limit=1&cursor="+list.Next).JSON(t, &list)
	if len(list.Notes) != 1 || list.Notes[0].ID != one.ID {
		t.Errorf("the one before: %+v", list)
	}

	asRead := http.Header{"Content-Type": {"application/json"}, "If-Match": {first.Header.Get("ETag")}}
	for _, want := range []int{http.StatusOK, http.StatusPreconditionFailed} { // the second has not read what the first wrote
		if got := b.Do(http.MethodPatch, path, strings.NewReader(thirdNote), asRead); got.Status != want {
			t.Errorf("change: %d %s, want %d", got.Status, got.Body, want)
		}
	}
	if got := b.Do(http.MethodDelete, path, nil, asRead); got.Status != http.StatusPreconditionFailed {
		t.Errorf("delete what was changed meanwhile: %d %s", got.Status, got.Body)
	}
	for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
		if got := b.API(http.MethodDelete, path, ""); got.Status != want {
			t.Errorf("delete: %d %s, want %d", got.Status, got.Body, want)
		}
	}
}

func TestNotes_AreOfOneTenant(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	acme, globex := site.SignIn(t, "acme"), site.SignIn(t, "globex")
	theirs := globex.Get("/api/notes").Body
	added := acme.API(http.MethodPost, "/api/notes", firstNote)
	if added.Status != http.StatusCreated {
		t.Fatalf("add: %d %s", added.Status, added.Body)
	}
	var one struct{ ID int64 }
	added.JSON(t, &one)
	path := fmt.Sprintf("/notes/%d", one.ID)
	for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodDelete} {
		if got := globex.API(method, "/api"+path, secondNote); got.Status != http.StatusNotFound {
			t.Errorf("%s by another tenant: %d %s", method, got.Status, got.Body)
		}
	}
	if got := globex.Post(path+"/delete", nil); got.Status != http.StatusNotFound {
		t.Errorf("deleted by another tenant: %d", got.Status)
	}
	if got := globex.API(http.MethodGet, "/api/notes", ""); got.Body != theirs {
		t.Errorf("another tenant's list is %s", got.Body)
	}
	if got := acme.Get(path); got.Status != http.StatusOK {
		t.Errorf("its own: %d", got.Status)
	}
}

func TestNotes_RefuseBadInput(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	for body, want := range map[string]int{
		`{`:                            http.StatusBadRequest,
		`[]`:                           http.StatusBadRequest,
		strings.Repeat("x", 2_000_000): http.StatusRequestEntityTooLarge,
		`{}`:                           http.StatusUnprocessableEntity,
		strings.Replace(firstNote, "First title", ` \t `, 1):                   http.StatusUnprocessableEntity,
		strings.Replace(firstNote, "First title", `\u0000`, 1):                 http.StatusUnprocessableEntity,
		strings.Replace(firstNote, "First title", strings.Repeat("ä", 200), 1): http.StatusCreated,
		strings.Replace(firstNote, "First title", strings.Repeat("ä", 201), 1): http.StatusUnprocessableEntity,
	} {
		if got := b.API(http.MethodPost, "/api/notes", body); got.Status != want || want >= 400 && got.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%.60s: %d %s, want %d", body, got.Status, got.Body, want)
		}
	}
	for field, value := range map[string]string{"title": `7`} {
		got := b.API(http.MethodPost, "/api/notes", `{"`+field+`":`+value+`}`)
		var problem struct{ Fields map[string]string }
		if got.JSON(t, &problem); got.Status != http.StatusUnprocessableEntity || problem.Fields[field] == "" {
			t.Errorf("%s %s: %d %s", field, value, got.Status, got.Body)
		}
	}
	for _, id := range []string{"x", "-1", "0", "99999999999999999999", "1;DROP"} {
		if got := b.API(http.MethodDelete, "/api/notes/"+id, ""); got.Status != http.StatusNotFound {
			t.Errorf("delete %s: %d, want 404", id, got.Status)
		}
	}
}

func TestNotes_Pages(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	form := url.Values{"title": {"First title"}}
	page := b.Post("/notes", url.Values{"title": {strings.Repeat("<b>", 100)}})
	if page.Status != http.StatusUnprocessableEntity || strings.Contains(page.Body, "<b>") || !strings.Contains(page.Body, "&lt;b&gt;") || !strings.Contains(page.Body, "title-error") {
		t.Errorf("a wrong form: %d %s; it comes back as it was typed, escaped, with what is wrong", page.Status, page.Body)
	}
	if added := b.Post("/notes", form); added.Status != http.StatusSeeOther || added.Location() != "/notes" {
		t.Fatalf("add: %d %s", added.Status, added.Body)
	}
	var newest struct{ Notes []struct{ ID int64 } }
	b.Get("/api/notes?limit=1").JSON(t, &newest)
	own := fmt.Sprintf("/notes/%d", newest.Notes[0].ID)
	for _, said := range []bool{true, false} { // once
		if page := b.Get("/notes"); strings.Contains(page.Body, "The note was added.") != said || !strings.Contains(page.Body, `"`+own+`"`) {
			t.Errorf("list: %d %s", page.Status, page.Body)
		}
	}
	if page := b.Get("/notes?q=nothing+is+called+so"); !strings.Contains(page.Body, "Nothing was found.") {
		t.Errorf("a search in vain: %d %s", page.Status, page.Body)
	}
	if page := b.Get("/notes?q=fIRST"); !strings.Contains(page.Body, `"`+own+`"`) {
		t.Errorf("a search: %d %s", page.Status, page.Body)
	}
	for _, path := range []string{"/notes/new", own, own + "/edit", own + "/delete"} {
		if page := b.Get(path); page.Status != http.StatusOK {
			t.Errorf("%s: %d %s", path, page.Status, page.Body)
		}
	}
	opened := b.Get(own + "/edit").Hidden("if-match") // by two who then save, one after the other
	theirs := url.Values{"if-match": {opened}, "title": {"Second title"}}
	if saved := b.Post(own, theirs); saved.Status != http.StatusSeeOther || opened == "" {
		t.Errorf("save: %d %s", saved.Status, saved.Body)
	}
	ours := url.Values{"if-match": {opened}, "title": {"Third title"}}
	again := b.Post(own, ours)
	if again.Status != http.StatusConflict || !strings.Contains(again.Body, "Somebody changed this") {
		t.Errorf("save over what the first wrote: %d %s", again.Status, again.Body)
	}
	ours.Set("if-match", again.Hidden("if-match"))
	if saved := b.Post(own, ours); saved.Status != http.StatusSeeOther {
		t.Errorf("save knowingly: %d %s", saved.Status, saved.Body)
	}
	if saved := b.Post(own, form); saved.Status != http.StatusSeeOther || saved.Location() != own {
		t.Errorf("save: %d %s", saved.Status, saved.Body)
	}
	if deleted := b.Post(own+"/delete", nil); deleted.Status != http.StatusSeeOther || deleted.Location() != "/notes" {
		t.Errorf("delete: %d %s", deleted.Status, deleted.Body)
	}
	if page := b.Get(own); page.Status != http.StatusNotFound {
		t.Errorf("after it was deleted: %d", page.Status)
	}
}
