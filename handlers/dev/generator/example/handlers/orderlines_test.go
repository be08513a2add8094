package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/generator/example/handlers"
	"example.com/subproduct/handlers/handlertest"
)

// Three order lines, as a program sends them.
const (
	firstOrderLine  = `{"sku":"First sku","remark":"First remark","quantity":7,"price":"12.50","shipped":true,"dueDate":"2027-01-31","orderedAt":"2027-02-01T14:05:00Z","productId":"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c34","label":"First label","discount":"12.50","batch":7,"bestBefore":"2027-02-02","seenAt":"2027-02-03T14:05:00Z","supplierId":"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c34","story":"First story","customerId":%d,"agentId":%d}`
	secondOrderLine = `{"sku":"Second sku","remark":"Second remark","quantity":8,"price":"99.95","shipped":false,"dueDate":"2027-02-28","orderedAt":"2027-03-01T14:05:00Z","productId":"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c35","label":"Second label","discount":"99.95","batch":8,"bestBefore":"2027-03-02","seenAt":"2027-03-03T14:05:00Z","supplierId":"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c35","story":"Second story","customerId":%d,"agentId":%d}`
	thirdOrderLine  = `{"sku":"Third sku","remark":"Third remark","quantity":9,"price":"0.10","shipped":true,"dueDate":"2028-02-29","orderedAt":"2028-03-01T14:05:00Z","productId":"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c36","label":"Third label","discount":"0.10","batch":9,"bestBefore":"2028-03-02","seenAt":"2028-03-03T14:05:00Z","supplierId":"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c36","story":"Third story","customerId":%d,"agentId":%d}`
)

func TestOrderLines_API(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	customerID := site.Row(t, "acme", "customers")
	agentID := site.Row(t, "acme", "customers")
	first := b.API(http.MethodPost, "/api/order-lines", fmt.Sprintf(firstOrderLine, customerID, agentID))
	second := b.API(http.MethodPost, "/api/order-lines", fmt.Sprintf(secondOrderLine, customerID, agentID))
	if first.Status != http.StatusCreated || second.Status != http.StatusCreated {
		t.Fatalf("%d %s, then %d %s", first.Status, first.Body, second.Status, second.Body)
	}
	var one struct{ ID int64 }
	first.JSON(t, &one)
	path := fmt.Sprintf("/api/order-lines/%d", one.ID)
	given := strings.TrimSuffix(fmt.Sprintf(firstOrderLine, customerID, agentID), "}") // and what is added to it
	if got := b.Get(path); got.Body != first.Body || !strings.Contains(got.Body, given[1:]) || got.Header.Get("ETag") != first.Header.Get("ETag") {
		t.Errorf("read: %d %s, created: %s", got.Status, got.Body, first.Body)
	}

	var list struct {
		OrderLines []struct{ ID int64 }
		Next       string
	}
	b.Get("/api/order-lines?limit=1").JSON(t, &list)
	if len(list.OrderLines) != 1 || list.OrderLines[0].ID <= one.ID || list.Next == "" {
		t.Errorf("the newest: %+v", list)
	}
	b.Get("/api/order-lines?limit=1&cursor="+list.Next).JSON(t, &list)
	if len(list.OrderLines) != 1 || list.OrderLines[0].ID != one.ID {
		t.Errorf("the one before: %+v", list)
	}

	asRead := http.Header{"Content-Type": {"application/json"}, "If-Match": {first.Header.Get("ETag")}}
	for _, want := range []int{http.StatusOK, http.StatusPreconditionFailed} { // the second has not read what the first wrote
		if got := b.Do(http.MethodPatch, path, strings.NewReader(fmt.Sprintf(thirdOrderLine, customerID, agentID)), asRead); got.Status != want {
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

func TestOrderLines_AreOfOneTenant(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	acme, globex := site.SignIn(t, "acme"), site.SignIn(t, "globex")
	customerID := site.Row(t, "acme", "customers")
	agentID := site.Row(t, "acme", "customers")
	theirs := globex.Get("/api/order-lines").Body
	added := acme.API(http.MethodPost, "/api/order-lines", fmt.Sprintf(firstOrderLine, customerID, agentID))
	if added.Status != http.StatusCreated {
		t.Fatalf("add: %d %s", added.Status, added.Body)
	}
	var one struct{ ID int64 }
	added.JSON(t, &one)
	path := fmt.Sprintf("/order-lines/%d", one.ID)
	for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodDelete} {
		if got := globex.API(method, "/api"+path, fmt.Sprintf(secondOrderLine, customerID, agentID)); got.Status != http.StatusNotFound {
			t.Errorf("%s by another tenant: %d %s", method, got.Status, got.Body)
		}
	}
	if got := globex.Post(path+"/delete", nil); got.Status != http.StatusNotFound {
		t.Errorf("deleted by another tenant: %d", got.Status)
	}
	if got := globex.API(http.MethodGet, "/api/order-lines", ""); got.Body != theirs {
		t.Errorf("another tenant's list is %s", got.Body)
	}
	if got := acme.Get(path); got.Status != http.StatusOK {
		t.Errorf("its own: %d", got.Status)
	}
}

func TestOrderLines_RefuseBadInput(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	customerID := site.Row(t, "acme", "customers")
	agentID := site.Row(t, "acme", "customers")
	for body, want := range map[string]int{
		`{`:                            http.StatusBadRequest,
		`[]`:                           http.StatusBadRequest,
		strings.Repeat("x", 2_000_000): http.StatusRequestEntityTooLarge,
		`{}`:                           http.StatusUnprocessableEntity,
		strings.Replace(fmt.Sprintf(firstOrderLine, customerID, agentID), "First sku", ` \t `, 1):                   http.StatusUnprocessableEntity,
		strings.Replace(fmt.Sprintf(firstOrderLine, customerID, agentID), "First sku", `\u0000`, 1):                 http.StatusUnprocessableEntity,
		strings.Replace(fmt.Sprintf(firstOrderLine, customerID, agentID), "First sku", strings.Repeat("ä", 200), 1): http.StatusCreated,
		strings.Replace(fmt.Sprintf(firstOrderLine, customerID, agentID), "First sku", strings.Repeat("ä", 201), 1): http.StatusUnprocessableEntity,
	} {
		if got := b.API(http.MethodPost, "/api/order-lines", body); got.Status != want || want >= 400 && got.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%.60s: %d %s, want %d", body, got.Status, got.Body, want)
		}
	}
	for field, value := range map[string]string{"sku": `7`, "remark": `7`, "quantity": `"many"`, "price": `"much"`, "shipped": `"perhaps"`, "dueDate": `"2027-02-29"`, "orderedAt": `"soon"`, "productId": `"7f1c"`, "label": `7`, "discount": `"much"`, "batch": `"many"`, "bestBefore": `"2027-02-29"`, "seenAt": `"soon"`, "supplierId": `"7f1c"`, "story": `7`, "customerId": `"many"`, "agentId": `"many"`} {
		got := b.API(http.MethodPost, "/api/order-lines", `{"`+field+`":`+value+`}`)
		var problem struct{ Fields map[string]string }
		if got.JSON(t, &problem); got.Status != http.StatusUnprocessableEntity || problem.Fields[field] == "" {
			t.Errorf("%s %s: %d %s", field, value, got.Status, got.Body)
		}
	}
	if got := b.API(http.MethodPost, "/api/order-lines", fmt.Sprintf(thirdOrderLine, customerID+1, agentID)); got.Status != http.StatusUnprocessableEntity || !strings.Contains(got.Body, `"customerId":"There is no such`) {
		t.Errorf("of no customer: %d %s", got.Status, got.Body)
	}
	b.API(http.MethodPost, "/api/order-lines", fmt.Sprintf(secondOrderLine, customerID, agentID))
	if got := b.API(http.MethodPost, "/api/order-lines", fmt.Sprintf(secondOrderLine, customerID, agentID)); got.Status != http.StatusUnprocessableEntity || !strings.Contains(got.Body, `"sku":"This `) {
		t.Errorf("the same twice: %d %s", got.Status, got.Body)
	}
	for _, id := range []string{"x", "-1", "0", "99999999999999999999", "1;DROP"} {
		if got := b.API(http.MethodDelete, "/api/order-lines/"+id, ""); got.Status != http.StatusNotFound {
			t.Errorf("delete %s: %d, want 404", id, got.Status)
		}
	}
}

func TestOrderLines_Pages(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlers.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	customerID := site.Row(t, "acme", "customers")
	agentID := site.Row(t, "acme", "customers")
	form := url.Values{"sku": {"First sku"}, "remark": {"First remark"}, "quantity": {"7"}, "price": {"12.50"}, "shipped": {"true"}, "dueDate": {"2027-01-31"}, "orderedAt": {"2027-02-01T14:05:00Z"}, "productId": {"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c34"}, "label": {"First label"}, "discount": {"12.50"}, "batch": {"7"}, "bestBefore": {"2027-02-02"}, "seenAt": {"2027-02-03T14:05:00Z"}, "supplierId": {"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c34"}, "story": {"First story"}, "customerId": {fmt.Sprint(customerID)}, "agentId": {fmt.Sprint(agentID)}}
	page := b.Post("/order-lines", url.Values{"sku": {strings.Repeat("<b>", 100)}})
	if page.Status != http.StatusUnprocessableEntity || strings.Contains(page.Body, "<b>") || !strings.Contains(page.Body, "&lt;b&gt;") || !strings.Contains(page.Body, "sku-error") {
		t.Errorf("a wrong form: %d %s; it comes back as it was typed, escaped, with what is wrong", page.Status, page.Body)
	}
	form.Set("customerId", fmt.Sprint(customerID+1))
	page = b.Post("/order-lines", form)
	if page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Body, "There is no such customer") || !strings.Contains(page.Body, fmt.Sprintf(`<option value="%d"`, customerID)) {
		t.Errorf("of no customer: %d %s", page.Status, page.Body)
	}
	form.Set("customerId", fmt.Sprint(customerID))
	if added := b.Post("/order-lines", form); added.Status != http.StatusSeeOther || added.Location() != "/order-lines" {
		t.Fatalf("add: %d %s", added.Status, added.Body)
	}
	var newest struct{ OrderLines []struct{ ID int64 } }
	b.Get("/api/order-lines?limit=1").JSON(t, &newest)
	own := fmt.Sprintf("/order-lines/%d", newest.OrderLines[0].ID)
	for _, said := range []bool{true, false} { // once
		if page := b.Get("/order-lines"); strings.Contains(page.Body, "The order line was added.") != said || !strings.Contains(page.Body, `"`+own+`"`) {
			t.Errorf("list: %d %s", page.Status, page.Body)
		}
	}
	if page := b.Get("/order-lines?q=nothing+is+called+so"); !strings.Contains(page.Body, "Nothing was found.") {
		t.Errorf("a search in vain: %d %s", page.Status, page.Body)
	}
	if page := b.Get("/order-lines?q=fIRST"); !strings.Contains(page.Body, `"`+own+`"`) {
		t.Errorf("a search: %d %s", page.Status, page.Body)
	}
	for _, path := range []string{"/order-lines/new", own, own + "/edit", own + "/delete"} {
		if page := b.Get(path); page.Status != http.StatusOK {
			t.Errorf("%s: %d %s", path, page.Status, page.Body)
		}
	}
	opened := b.Get(own + "/edit").Hidden("if-match") // by two who then save, one after the other
	theirs := url.Values{"if-match": {opened}, "sku": {"Second sku"}, "remark": {"Second remark"}, "quantity": {"8"}, "price": {"99.95"}, "shipped": {"false"}, "dueDate": {"2027-02-28"}, "orderedAt": {"2027-03-01T14:05:00Z"}, "productId": {"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c35"}, "label": {"Second label"}, "discount": {"99.95"}, "batch": {"8"}, "bestBefore": {"2027-03-02"}, "seenAt": {"2027-03-03T14:05:00Z"}, "supplierId": {"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c35"}, "story": {"Second story"}, "customerId": {fmt.Sprint(customerID)}, "agentId": {fmt.Sprint(agentID)}}
	if saved := b.Post(own, theirs); saved.Status != http.StatusSeeOther || opened == "" {
		t.Errorf("save: %d %s", saved.Status, saved.Body)
	}
	ours := url.Values{"if-match": {opened}, "sku": {"Third sku"}, "remark": {"Third remark"}, "quantity": {"9"}, "price": {"0.10"}, "shipped": {"true"}, "dueDate": {"2028-02-29"}, "orderedAt": {"2028-03-01T14:05:00Z"}, "productId": {"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c36"}, "label": {"Third label"}, "discount": {"0.10"}, "batch": {"9"}, "bestBefore": {"2028-03-02"}, "seenAt": {"2028-03-03T14:05:00Z"}, "supplierId": {"7f1c9a52-3b0e-4a57-9d0c-2f6a8e5b1c36"}, "story": {"Third story"}, "customerId": {fmt.Sprint(customerID)}, "agentId": {fmt.Sprint(agentID)}}
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
	if deleted := b.Post(own+"/delete", nil); deleted.Status != http.StatusSeeOther || deleted.Location() != "/order-lines" {
		t.Errorf("delete: %d %s", deleted.Status, deleted.Body)
	}
	if page := b.Get(own); page.Status != http.StatusNotFound {
		t.Errorf("after it was deleted: %d", page.Status)
	}
}
