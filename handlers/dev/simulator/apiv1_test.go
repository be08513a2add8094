package simulator

import (
	"encoding/json"
	"testing"
)

// api calls the platform's own API and reads its answer.
func (d *harness) api(t *testing.T, method, path, body string, want int, headers ...string) map[string]any {
	t.Helper()
	status, text := call(t, method, d.url+path, body, headers...)
	var answer map[string]any
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != want {
		t.Fatalf("%s %s: %d %s, want %d and JSON", method, path, status, text, want)
	}
	return answer
}

// login signs in by phone, the whole way, and returns the access token.
func (d *harness) login(t *testing.T, phone string) string {
	t.Helper()
	code := d.api(t, "POST", "/api/v1/auth/sms/send", `{"phone":"`+phone+`"}`, 200)["simulatorCode"].(string)
	return d.api(t, "POST", "/api/v1/auth/sms/login", `{"phone":"`+phone+`","code":"`+code+`"}`, 200)["accessToken"].(string)
}

func TestSimulator_LoginAnswersWithAnMFATokenWhileTheSecondFactorIsPending(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.AddTenant("globex", "", "pro", User{ID: "gil", Email: "gil@globex.example", Phone: "2"})
	bearer := "Bearer " + d.login(t, "2")

	setup := d.api(t, "POST", "/api/v1/users/me/mfa/setup", "", 200, "Authorization", bearer)
	if setup["enabled"] != false || setup["secret"] == "" {
		t.Fatalf("setup = %v", setup)
	}
	d.login(t, "2") // not asked for before it is enabled
	d.api(t, "POST", "/api/v1/users/me/mfa/enable", `{"code":"000"}`, 422, "Authorization", bearer)
	right := `{"code":"` + setup["simulatorCode"].(string) + `"}`
	d.api(t, "POST", "/api/v1/users/me/mfa/enable", right, 200, "Authorization", bearer)

	code := d.api(t, "POST", "/api/v1/auth/sms/send", `{"phone":"2"}`, 200)["simulatorCode"].(string)
	pending := d.api(t, "POST", "/api/v1/auth/sms/login", `{"phone":"2","code":"`+code+`"}`, 200)
	if _, there := pending["accessToken"]; there || pending["mfaToken"] == nil {
		t.Fatalf("first factor = %v, want an mfaToken and no accessToken", pending)
	}
	done := d.api(t, "POST", "/api/v1/auth/sms/login", `{"mfaToken":"`+pending["mfaToken"].(string)+`","mfaCode":"`+setup["simulatorCode"].(string)+`"}`, 200)
	if _, there := done["mfaToken"]; there || done["accessToken"] == nil {
		t.Fatalf("second factor = %v, want an accessToken and no mfaToken", done)
	}
	if off := d.api(t, "POST", "/api/v1/users/me/mfa/disable", right, 200, "Authorization", bearer); off["enabled"] != false {
		t.Errorf("disable = %v", off)
	}
	d.login(t, "2")
}

func TestSimulator_DeliveryLogsAreFiltered(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.AddTenant("globex", "", "pro", User{ID: "gil", Email: "gil@globex.example", Phone: "2"})
	if _, err := d.Pause(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	d.product.answer = func(int, hook) int { return 500 }
	failed, err := d.Pause(t.Context(), "globex")
	if err != nil {
		t.Fatal(err)
	}
	d.await(t, failed.ID)

	count := func(query string, headers ...string) int {
		t.Helper()
		return len(d.api(t, "GET", "/api/v1/webhooks/delivery-logs"+query, "", 200, headers...)["deliveries"].([]any))
	}
	for query, want := range map[string]int{
		"": 2, "?product=notes": 2, "?product=other": 0, "?status=failed": 1, "?product=notes&status=delivered": 1, "?status=pending": 0,
	} {
		if got := count(query, "X-Api-Key", testKey); got != want {
			t.Errorf("%q: %d deliveries, want %d", query, got, want)
		}
	}
	if got := count("", "Authorization", "Bearer "+d.login(t, "2")); got != 1 {
		t.Errorf("a user of globex sees %d deliveries, want globex's one", got)
	}
	d.api(t, "GET", "/api/v1/webhooks/delivery-logs", "", 401)
	d.api(t, "GET", "/api/v1/webhooks/delivery-logs", "", 401, "Authorization", "Bearer guess")
}

func TestSimulator_PausesAndResumesBySubscriptionID(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.AddTenant("globex", "", "pro", User{ID: "gil", Email: "gil@globex.example", Phone: "2"})
	path := "/api/v1/subscriptions/" + d.Tenants()[0].Subscription.ID
	key := []string{"X-Api-Key", testKey}

	if got := d.api(t, "POST", path+"/pause", "", 200, key...); got["status"] != StatusPaused {
		t.Errorf("pause = %v", got)
	}
	d.api(t, "POST", path+"/pause", "", 422, key...)
	d.api(t, "POST", path+"/resume", "", 404, "Authorization", "Bearer "+d.login(t, "2")) // another tenant's
	if got := d.api(t, "POST", path+"/resume", "", 200, key...); got["status"] != StatusActive {
		t.Errorf("resume = %v", got)
	}
	d.api(t, "POST", path+"/pause", "", 401)
	if log := d.Deliveries(); len(log) != 2 || log[1].EventType != subscriptionPaused || log[0].EventType != subscriptionResumed {
		t.Errorf("deliveries = %+v, want paused, then resumed", log)
	}
}

func TestSimulator_InvoicesAndRefunds(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	orders := d.snapshot().Orders
	key := []string{"X-Api-Key", testKey}

	invoice := d.api(t, "POST", "/api/v1/invoices", `{"orderId":"`+orders[0].ID+`","title":"Acme Ltd"}`, 200, key...)
	if invoice["status"] != InvoiceRequested || invoice["title"] != "Acme Ltd" {
		t.Errorf("invoice = %v", invoice)
	}
	d.api(t, "POST", "/_sim/invoices/approve", `{"id":"`+invoice["id"].(string)+`"}`, 200)
	if invoices := d.snapshot().Invoices; invoices[0].Status != InvoiceApproved {
		t.Errorf("invoices = %+v, want it approved", invoices)
	}
	refunded := d.api(t, "POST", "/api/v1/orders/"+orders[0].ID+"/refund", `{"reason":"test"}`, 200, key...)
	if refunded["status"] != OrderRefunded || len(refunded["refundCallbacks"].([]any)) != 2 {
		t.Errorf("refund = %v, want both channels called back", refunded)
	}
	d.api(t, "POST", "/api/v1/orders/"+orders[0].ID+"/refund", "", 422, key...)
	d.api(t, "POST", "/api/v1/orders/ord_0/refund", "", 404, key...)
	d.api(t, "POST", "/api/v1/invoices", `{"orderId":"ord_0"}`, 404, key...)
}
