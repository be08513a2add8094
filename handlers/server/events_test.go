package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/tenancy"
)

// The lines between the marks stand in README.md, which a test below sees to.

// example begins
func invoicePaid(ctx context.Context, tx pgx.Tx, e tenancy.Event) error {
	var body struct {
		Data struct{ Number string }
	}
	if err := json.Unmarshal(e.Body, &body); err != nil || body.Data.Number == "" {
		return tenancy.Permanent(errors.New("the event names no invoice"))
	}
	_, err := tx.Exec(ctx, `INSERT INTO payments (invoice) VALUES ($1)`, body.Data.Number)
	return err
}

// example ends

func TestEvents_OfTheProductsOwn(t *testing.T) {
	t.Parallel()
	product := fixture.Migrating(fstest.MapFS{"000001_payments.up.sql": {Data: []byte(`CREATE TABLE payments (invoice text)`)}})
	product.Events = tenancy.EventHandlers{"invoice.paid": {Apply: invoicePaid}}
	site := handlertest.Start(t, product, handlertest.Setup{})
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
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM tenant_acme.payments WHERE invoice = '2026-7'`); n != 1 {
		t.Errorf("%d effects, want one", n)
	}
}

func TestEvents_TheReadmeShowsTheTestedExample(t *testing.T) {
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
