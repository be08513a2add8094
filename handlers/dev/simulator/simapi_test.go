package simulator

import (
	"strings"
	"testing"
)

func TestSimulator_IsDrivenOverHTTP(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.api(t, "POST", "/_sim/tenants", `{"slug":"globex","name":"Globex","plan":"pro","users":[{"id":"gil","email":"gil@globex.example"}]}`, 200)
	if len(d.Deliveries()) != 0 {
		t.Error("adding a tenant told the product")
	}
	for _, change := range []string{"pause", "resume", "cancel"} {
		if got := d.api(t, "POST", "/_sim/"+change, `{"slug":"globex"}`, 200); got["status"] != DeliveryDelivered {
			t.Errorf("%s = %v", change, got)
		}
	}
	d.api(t, "POST", "/_sim/cancel", `{"slug":"globex"}`, 422)
	d.api(t, "POST", "/_sim/pause", `{"slug":"nobody"}`, 404)

	sent := d.api(t, "POST", "/_sim/send", `{"eventType":"odd","body":"not JSON"}`, 200)
	if hooks := d.product.seen(); hooks[len(hooks)-1].body != "not JSON" || sent["eventType"] != "odd" {
		t.Errorf("send = %v; the product saw %+v", sent, hooks)
	}
	about := d.api(t, "POST", "/_sim/send", `{"eventType":"plan.changed","tenant":"acme"}`, 200)
	if about["tenant"] != "acme" || !strings.Contains(about["body"].(string), `"tenantSlug":"acme"`) {
		t.Errorf("an event about acme = %v", about)
	}
	d.api(t, "POST", "/_sim/send", `{}`, 422)
	if again := d.api(t, "POST", "/_sim/resend", `{"id":"`+sent["id"].(string)+`"}`, 200); again["body"] != "not JSON" {
		t.Errorf("resend = %v", again)
	}
	if list := d.api(t, "GET", "/_sim/deliveries?tenant=globex&status=delivered", "", 200)["deliveries"].([]any); len(list) != 3 {
		t.Errorf("%d deliveries of globex, want 3", len(list))
	}
	code := d.api(t, "POST", "/_sim/codes", `{"user":"gil"}`, 200)["code"].(string)
	if _, err := d.client().Exchange(t.Context(), code); err != nil {
		t.Error(err)
	}
	if list := d.api(t, "GET", "/_sim/exchanges", "", 200)["exchanges"].([]any); len(list) != 1 {
		t.Errorf("exchanges = %v, want the one", list)
	}
	if probe := d.api(t, "POST", "/_sim/probe", "", 200); probe["healthy"] != true {
		t.Errorf("probe = %v", probe)
	}
}

func TestSimulator_WaitingForADeliverysRetries(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.product.answer = func(n int, _ hook) int { return 500 }
	sent := d.send(t, "a")
	got := d.api(t, "GET", "/_sim/deliveries/"+sent.ID+"?wait=20s", "", 200)
	if got["status"] != DeliveryFailed || len(got["attempts"].([]any)) != 4 {
		t.Errorf("after waiting: %v, want it failed after four attempts", got)
	}
	d.SetFaults(Faults{DeliveryReorder: true})
	held := d.send(t, "b")
	if got := d.api(t, "GET", "/_sim/deliveries/"+held.ID+"?wait=1ms", "", 200); got["status"] != DeliveryPending {
		t.Errorf("waiting too short: %v, want it pending", got)
	}
	d.api(t, "GET", "/_sim/deliveries/dlv_0?wait=1s", "", 404)
}

func TestSimulator_UsersAreAddedAndChanged(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	added := d.api(t, "POST", "/_sim/users", `{"email":"ben@acme.example","tenant":"acme","phone":"1"}`, 200)
	if added["name"] != "ben" || added["id"] == "" {
		t.Errorf("added %v", added)
	}
	changed := d.api(t, "POST", "/_sim/users", `{"id":"ada","email":"ada@acme.example","name":"Ada L.","tenant":"acme","mfa":true}`, 200)
	if changed["name"] != "Ada L." || changed["mfaSecret"] == "" || len(d.Users()) != 2 {
		t.Errorf("changed to %v; users %+v", changed, d.Users())
	}
	again := d.api(t, "POST", "/_sim/users", `{"id":"ada","email":"ada@acme.example","tenant":"acme","mfa":true}`, 200)
	if again["mfaSecret"] != changed["mfaSecret"] || again["name"] != "Ada L." {
		t.Errorf("saved once more: %v, want secret and name kept", again)
	}
	d.api(t, "POST", "/_sim/users", `{"id":"ada","email":"ada@acme.example","tenant":"acme","phone":"1"}`, 422) // ben's
	d.api(t, "POST", "/_sim/users", `{"email":"BEN@acme.example","tenant":"acme"}`, 422)
	d.api(t, "POST", "/_sim/users", `{"email":"nobody","tenant":"acme"}`, 422)
	d.api(t, "POST", "/_sim/users", `{"email":"x@y.example","tenant":"nobody"}`, 404)
}

func TestSimulator_SecretsGoInAndNeverComeOut(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	_, text := call(t, "GET", d.url+"/_sim/state", "")
	_, changed := call(t, "POST", d.url+"/_sim/product", `{"name":"Other","apiKey":"another key"}`)
	if strings.Contains(text+changed, testKey) || strings.Contains(text+changed, testSecret) || strings.Contains(changed, "another key") {
		t.Errorf("a secret stands in\n%s\n%s", text, changed)
	}
	if got := d.Product(); got.APIKey != "another key" || got.Name != "Other" || got.WebhookSecret != testSecret {
		t.Errorf("product = %+v, want the two fields changed", got)
	}
	d.api(t, "POST", "/_sim/product", `{"webhookUrl":"not an address"}`, 422)
}

func TestSimulator_RevisionTellsOfChanges(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	before := d.api(t, "GET", "/_sim/revision", "", 200)["revision"]
	if same := d.api(t, "GET", "/_sim/revision", "", 200)["revision"]; same != before {
		t.Errorf("looking changed it: %v, %v", before, same)
	}
	d.send(t, "a")
	if after := d.api(t, "GET", "/_sim/revision", "", 200)["revision"]; after == before {
		t.Error("a delivery did not")
	}
}
