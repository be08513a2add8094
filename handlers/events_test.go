package handlers_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/tenancy/inbox"
)

// The lines between the marks stand in README.md, which a test below sees to.

// example begins
func invoicePaid(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
	var body struct {
		Data struct{ Number string }
	}
	if err := json.Unmarshal(e.Body, &body); err != nil || body.Data.Number == "" {
		return inbox.Permanent(errors.New("the event names no invoice"))
	}
	_, err := tx.Exec(ctx, `INSERT INTO notes (title, created_by) VALUES ($1, 'billing')`, "Paid: "+body.Data.Number)
	return err
}

// example ends

// withInvoices is what the line in events.go does, for one test's server.
func withInvoices() inbox.Handlers {
	return inbox.Handlers{"invoice.paid": {Apply: invoicePaid}}
}

func TestAnEventOfTheProductsOwn(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, handlertest.Setup{Serve: handlers.ServeOptions{Events: withInvoices()}})
	ada := site.SignIn(t, "acme")
	for body, want := range map[string]int{
		`{"eventType":"invoice.paid","tenantSlug":"acme","data":{"number":"2026-7"}}`: http.StatusOK,
		`{"eventType":"invoice.paid","tenantSlug":"acme","data":{}}`:                  http.StatusUnprocessableEntity,
	} {
		for range 2 { // the second is a redelivery
			answer := ada.Do(http.MethodPost, "/webhooks/platform", strings.NewReader(body),
				http.Header{platform.SignatureHeader: {platform.Sign(handlertest.WebhookSecret, []byte(body))}})
			if answer.Status != want {
				t.Errorf("%s: %d %s, want %d", body, answer.Status, answer.Body, want)
			}
		}
	}
	if notes := ada.Get("/api/notes"); strings.Count(notes.Body, "Paid: 2026-7") != 1 {
		t.Errorf("want the event's effect once in %s", notes.Body)
	}
}

func TestTheReadmeShowsTheTestedExample(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("events_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(source), "\n// example begins\n")
	code, _, _ := strings.Cut(after, "\n// example ends\n")
	var indented strings.Builder
	for line := range strings.Lines(strings.TrimSpace(code)) {
		indented.WriteString("    " + strings.ReplaceAll(line, "\t", "    "))
	}
	if !strings.Contains(string(readme), indented.String()) {
		t.Errorf("README.md does not show:\n%s", indented.String())
	}
}
