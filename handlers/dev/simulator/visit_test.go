package simulator

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// submit posts a console form as a browser does.
func submit(t *testing.T, b *http.Client, address, from string, form url.Values) *http.Response {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "text/html")
	request.Header.Set("Referer", from)
	response, err := b.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response
}

func TestSimulator_NewSubscriptionSignsItsUserInByItself(t *testing.T) {
	t.Parallel()
	d := newHarness(t, func(o *Options) { o.Product.CallbackURL += "?via=platform" })
	b := browser(t)
	there := submit(t, b, d.url+"/_sim/subscribe", d.url+"/", url.Values{
		"slug": {"globex"}, "plan": {"basic"}, "email": {"gil@globex.example"}, "signIn": {"on"},
	})
	prefix := d.product.url + "/sso/callback?via=platform&code="
	code, ok := strings.CutPrefix(there.Header.Get("Location"), prefix)
	if there.StatusCode != http.StatusSeeOther || !ok {
		t.Fatalf("after subscribing: %d to %q, want %q…", there.StatusCode, there.Header.Get("Location"), prefix)
	}
	user, err := d.client().Exchange(t.Context(), code)
	if err != nil || user.TenantSlug != "globex" || user.Email != "gil@globex.example" || user.PlanType != "basic" {
		t.Errorf("exchange = %+v, %v", user, err)
	}
	if hooks := d.product.seen(); len(hooks) != 1 || !strings.Contains(hooks[0].body, `"subscription.created"`) {
		t.Errorf("the product saw %+v, want subscription.created before the browser", hooks)
	}
	if page, _ := get(t, b, d.ssoURL(d.product.url+"/")); page.StatusCode != http.StatusSeeOther {
		t.Errorf("the browser is not signed in at the platform: %d", page.StatusCode)
	}
}

func TestSimulator_SubscribeTellsAProgramTheAddress(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	answer := d.api(t, "POST", "/_sim/subscribe", `{"slug":"globex","plan":"basic","signIn":true}`, 200)
	address, _ := answer["url"].(string)
	if !strings.HasPrefix(address, d.product.url+"/sso/callback?code=") {
		t.Errorf("answer = %v, want the callback address with a code", answer)
	}
	d.api(t, "POST", "/_sim/subscribe", `{"slug":"globex"}`, 422)
	if who := d.api(t, "POST", "/_sim/subscribe", `{"slug":"acme","plan":"basic","email":"BEN@acme.example"}`, 200)["user"]; who == "ada" {
		t.Error("the user that the subscription named is not the one to sign in")
	}
}

func TestSimulator_OpensTheProductAsAUser(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.AddTenant("acme", "", "", User{ID: "ben", Email: "ben@acme.example"})
	b := browser(t)
	for _, id := range []string{"ada", "ben"} { // switching needs no signing out
		there := submit(t, b, d.url+"/_sim/sign-in", d.url+"/users", url.Values{"user": {id}})
		_, code, _ := strings.Cut(there.Header.Get("Location"), "code=")
		if user, err := d.client().Exchange(t.Context(), code); err != nil || user.UserID != id {
			t.Errorf("opened as %s: %+v, %v", id, user, err)
		}
	}
	if there := submit(t, b, d.url+"/_sim/sign-in", d.url+"/", url.Values{"user": {"nobody"}}); there.StatusCode != http.StatusNotFound {
		t.Errorf("as nobody: %d, want 404", there.StatusCode)
	}
}
