package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
)

// The whole life of a tenant, over real HTTP.
func TestTenant_Life(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})

	site.Subscribe(t, "acme") // the event makes the schema
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM pg_namespace WHERE nspname = 'tenant_acme'`); n != 1 {
		t.Fatal("the event made no schema")
	}
	ada := site.SignIn(t, "acme")
	if answer := ada.Post("/items", url.Values{"label": {"Buy milk"}}); answer.Status != http.StatusSeeOther {
		t.Fatalf("note: %d %s", answer.Status, answer.Body)
	}
	if page := ada.Get("/items"); !strings.Contains(page.Body, "Buy milk") {
		t.Error("the note is not on the page")
	}
	grace := site.SignIn(t, "globex")
	if page := grace.Get("/items"); page.Status != http.StatusOK || strings.Contains(page.Body, "Buy milk") {
		t.Errorf("another tenant: %d, and the note is there: %v", page.Status, strings.Contains(page.Body, "Buy milk"))
	}

	if d, err := site.Platform.Cancel(t.Context(), "acme"); err != nil || d.Status != simulator.DeliveryDelivered {
		t.Fatalf("cancel: %+v, %v", d, err)
	}
	if answer := ada.API(http.MethodGet, "/api/items", ""); answer.Status != http.StatusUnauthorized {
		t.Errorf("after the cancellation: %d, want 401", answer.Status)
	}
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM tenant_acme.items`); n != 1 {
		t.Error("the cancelled tenant's data is gone")
	}
	if answer := grace.Get("/items"); answer.Status != http.StatusOK {
		t.Errorf("the other tenant: %d, want 200", answer.Status)
	}
}

// A cancellation at one replica ends sessions at another.
func TestTenant_ACancellationIsSeenByEveryReplica(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	replica := site.Replica(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	ada := replica.SignIn(t, "acme")
	if answer := ada.Get("/api/me"); answer.Status != http.StatusOK {
		t.Fatalf("signed in at the replica: %d", answer.Status)
	}
	if _, err := site.Platform.Cancel(t.Context(), "acme"); err != nil { // delivered to the first
		t.Fatal(err)
	}
	if answer := ada.Get("/api/me"); answer.Status != http.StatusUnauthorized {
		t.Errorf("after the cancellation: %d, want 401", answer.Status)
	}
}

func TestTenant_SignInFromThePageAskedFor(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	b := site.Browser(t)
	answer := b.Get("/items?x=1")
	if answer.Status != http.StatusSeeOther || answer.Location() != "/login?return_to=%2Fitems%3Fx%3D1" {
		t.Fatalf("not signed in: %d to %s", answer.Status, answer.Location())
	}
	answer = b.Get(answer.Location())
	want := site.Config.PlatformURL.String() + "/auth/sso?appSlug=fixture&redirect=" + url.QueryEscape(site.URL+"/sso/callback")
	if answer.Status != http.StatusSeeOther || answer.Location() != want {
		t.Fatalf("login: %d to %s, want %s", answer.Status, answer.Location(), want)
	}
	if answer = b.Callback("u-acme"); answer.Status != http.StatusSeeOther || answer.Location() != "/items?x=1" {
		t.Errorf("callback: %d to %s, want the page asked for", answer.Status, answer.Location())
	}
	var me map[string]string
	b.Get("/api/me").JSON(t, &me)
	if me["userId"] != "u-acme" || me["email"] != "user@acme.example" || me["tenantSlug"] != "acme" ||
		me["planType"] != "Pro" || me["subscriptionStatus"] != "Active" || len(me) != 5 {
		t.Errorf("/api/me is %v", me)
	}
	if answer := b.Post("/logout", nil); answer.Status != http.StatusSeeOther || answer.Location() != "/" {
		t.Errorf("logout: %d to %s", answer.Status, answer.Location())
	}
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM public.sessions`); n != 0 {
		t.Error("the session's row outlives the logout")
	}
}

// A platform whose events hold neither id nor time says the same words again and
// means them: a customer who comes back, and leaves once more.
func TestStory_TheSameWordsAgain(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Platform.SetFaults(simulator.Faults{DeliveryBare: true})
	site.Subscribe(t, "acme")
	for range 2 {
		ada := site.SignIn(t, "acme")
		if d, err := site.Platform.Cancel(t.Context(), "acme"); err != nil || d.Status != simulator.DeliveryDelivered {
			t.Fatalf("cancel: %+v, %v", d, err)
		}
		if answer := ada.API(http.MethodGet, "/api/items", ""); answer.Status != http.StatusUnauthorized {
			t.Errorf("after the cancellation: %d, want 401", answer.Status)
		}
		if d, err := site.Platform.Subscribe(t.Context(), "acme", "Pro"); err != nil || d.Status != simulator.DeliveryDelivered {
			t.Fatalf("subscribe: %+v, %v", d, err)
		}
	}
	site.SignIn(t, "acme")
	bodies := map[string]bool{}
	for _, d := range site.Platform.Deliveries() {
		bodies[d.Body] = true
	}
	if len(bodies) != 2 {
		t.Errorf("%d different bodies, want one of each kind", len(bodies))
	}
}
