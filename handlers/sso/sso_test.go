package sso_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/sso"
	"example.com/subproduct/tenancy/localpg/pgtest"

	"testing/fstest"
)

func TestCallback_WithoutAUsableCode(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	for _, query := range []string{"", "?code=", "?code=a&code=b", "?code=" + strings.Repeat("x", 100<<10), "?state=x"} {
		answer := site.Browser(t).Get("/sso/callback" + query)
		if answer.Status != http.StatusBadRequest || !strings.Contains(answer.Body, "<h1>") || answer.Header.Get("Set-Cookie") != "" {
			t.Errorf("%.20s: %d, cookie %q; want a 400 page and no session", query, answer.Status, answer.Header.Get("Set-Cookie"))
		}
	}
	if n := len(site.Platform.Exchanges()); n != 0 {
		t.Errorf("the platform was asked %d times", n)
	}
}

func TestSSO_ACodeThatThePlatformRefuses(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	code, err := site.Platform.IssueCode("u-acme")
	if err != nil {
		t.Fatal(err)
	}
	if answer := site.Browser(t).Get("/sso/callback?code=" + code); answer.Status != http.StatusSeeOther {
		t.Fatalf("first use: %d", answer.Status)
	}
	for _, bad := range []string{code, "made-up"} {
		answer := site.Browser(t).Get("/sso/callback?code=" + bad)
		if answer.Status != http.StatusUnauthorized || !strings.Contains(answer.Body, `href="/login"`) || answer.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d; want a 401 page with a way to sign in again, and no session", bad, answer.Status)
		}
	}
}

// When the platform does not take the API key, nobody can sign in: the visitor
// is told that the fault may be ours, and the log tells the operator which
// setting to look at. A code that is merely stale is nobody's alarm.
func TestSSO_TheAPIKeyIsRefused(t *testing.T) {
	t.Parallel()
	var log handlertest.Log
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Log: &log})
	site.Subscribe(t, "acme")
	alarms := func() int { return strings.Count(log.String(), "PLATFORM_API_KEY is wrong or has expired") }
	for i, c := range []struct {
		status int
		title  string
		alarms int
	}{
		{http.StatusNotFound, "That sign-in has expired", 0},
		{http.StatusUnauthorized, "The platform did not accept this sign-in", 1},
		{http.StatusForbidden, "The platform did not accept this sign-in", 2},
	} {
		site.Platform.SetFaults(simulator.Faults{UserInfoStatus: c.status})
		answer := site.Browser(t).Callback("u-acme")
		if answer.Status != http.StatusUnauthorized || !strings.Contains(answer.Body, c.title) ||
			!strings.Contains(answer.Body, `href="/login"`) || answer.Cookie("session") != nil {
			t.Errorf("%d: %d %s; want a 401 page, %q", c.status, answer.Status, answer.Body, c.title)
		}
		handlertest.Await(t, "the log has the request", func() bool { return strings.Count(log.String(), `"route":"/sso/callback"`) > i })
		if got := alarms(); got != c.alarms {
			t.Errorf("%d: %d alarms in the log, want %d", c.status, got, c.alarms)
		}
	}
	if text := log.String(); !strings.Contains(text, "status 403") || strings.Contains(text, handlertest.APIKey) {
		t.Errorf("the log lacks the platform's status, or has the key:\n%s", text)
	}
}

// Whatever goes wrong at the platform: a page of ours, no session, nothing of
// the platform's body, and the code was sent once.
func TestSSO_ThePlatformFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults simulator.Faults
		want   int
	}{
		"500":       {simulator.Faults{UserInfoStatus: 500}, http.StatusBadGateway},
		"redirect":  {simulator.Faults{UserInfoStatus: 302}, http.StatusBadGateway},
		"429":       {simulator.Faults{UserInfoStatus: 429}, http.StatusUnauthorized},
		"garbage":   {simulator.Faults{UserInfoBody: simulator.BodyGarbage}, http.StatusBadGateway},
		"numbers":   {simulator.Faults{UserInfoBody: simulator.BodyNumbers}, http.StatusBadGateway},
		"2 MiB":     {simulator.Faults{UserInfoBody: simulator.BodyHuge}, http.StatusBadGateway},
		"cut short": {simulator.Faults{UserInfoBody: simulator.BodyCut}, http.StatusBadGateway},
		"slow":      {simulator.Faults{UserInfoDelay: simulator.Delay(7 * time.Second)}, http.StatusGatewayTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
			site.Subscribe(t, "acme")
			site.Platform.SetFaults(c.faults)
			began := time.Now()
			answer := site.Browser(t).Callback("u-acme")
			if answer.Status != c.want || !strings.Contains(answer.Body, "<h1>") || answer.Header.Get("Set-Cookie") != "" {
				t.Errorf("%d %q; want a %d page and no session", answer.Status, answer.Body, c.want)
			}
			if strings.Contains(answer.Body, "acme") || time.Since(began) > 6*time.Second {
				t.Errorf("after %v: %s", time.Since(began), answer.Body)
			}
			if n := len(site.Platform.Exchanges()); n != 1 {
				t.Errorf("the code was sent %d times", n)
			}
		})
	}
}

func TestSSO_ThePlatformIsUnreachable(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"PLATFORM_BASE_URL": "http://127.0.0.1:1"}})
	if answer := site.Browser(t).Get("/sso/callback?code=x"); answer.Status != http.StatusBadGateway {
		t.Errorf("%d, want 502", answer.Status)
	}
}

func TestSSO_StatusesThatMayNotSignIn(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	if _, err := site.Platform.Pause(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	answer := site.Browser(t).Callback("u-acme")
	if answer.Status != http.StatusForbidden || !strings.Contains(answer.Body, "Paused") || answer.Header.Get("Set-Cookie") != "" {
		t.Errorf("paused: %d; want a 403 page that names the status, and no session", answer.Status)
	}
	other := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"ALLOWED_SUBSCRIPTION_STATUSES": "Active, Paused"}})
	other.Subscribe(t, "acme")
	if _, err := other.Platform.Pause(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	if answer := other.Browser(t).Callback("u-acme"); answer.Status != http.StatusSeeOther {
		t.Errorf("paused where that is allowed: %d, want a session", answer.Status)
	}
}

// The tenant's status counts beside the subscription's, and both at every
// sign-in.
func TestSSO_ATenantsStatusThatMayNotSignIn(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(nil)
	defer front.Close()
	var body atomic.Value
	front.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body.Load().(string))) })
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"PLATFORM_BASE_URL": front.URL}})
	site.Subscribe(t, "acme")
	for _, c := range []struct {
		subscription, tenant string
		want                 int
		named                string
	}{
		{`"Active"`, `"Active"`, 303, ""}, {`"active"`, `"ACTIVE"`, 303, ""}, {`"Active"`, `null`, 303, ""},
		{`"Active"`, `"Suspended"`, 403, "Suspended"}, {`"Active"`, `false`, 403, "false"}, {`"Active"`, `{}`, 403, "{}"},
		{`"Paused"`, `"Active"`, 403, "Paused"}, {`"Active "`, `"Active"`, 403, "Active "}, {`"Activex"`, `"Active"`, 403, "Activex"},
		{`""`, `"Active"`, 502, ""}, {`true`, `"Active"`, 502, ""},
	} {
		body.Store(`{"userId":"u-acme","email":"e","tenantSlug":"acme","planType":"Pro","subscriptionStatus":` + c.subscription + `,"tenantStatus":` + c.tenant + `}`)
		b := site.Browser(t)
		answer := b.Get("/sso/callback?code=x")
		signedIn := b.User() != ""
		if answer.Status != c.want || signedIn != (c.want == 303) || !strings.Contains(answer.Body, c.named) {
			t.Errorf("%s, %s: %d, signed in %v; want %d", c.subscription, c.tenant, answer.Status, signedIn, c.want)
		}
	}
}

func TestSSO_ATenantCancelledHereStaysOut(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	site.Exec(t, `UPDATE public.tenants SET status = 'cancelled', cancelled_at = now()`) // the platform does not know
	answer := site.Browser(t).Callback("u-acme")
	if answer.Status != http.StatusForbidden || !strings.Contains(answer.Body, "cancelled") || answer.Header.Get("Set-Cookie") != "" {
		t.Errorf("%d; want a 403 page that names the status, and no session", answer.Status)
	}
}

// While an event or a migration has a tenant's rows, who signs in or out there is
// told to come back, and the others notice nothing.
func TestSSO_ATenantThatIsBeingChanged(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	leaving, globex := site.SignIn(t, "acme"), site.SignIn(t, "globex")
	holder := pgtest.Connect(t, site.Database)
	defer holder.Close(context.Background())
	if _, err := holder.Exec(t.Context(), `BEGIN; UPDATE public.tenants SET plan_type = 'Basic' WHERE slug = 'acme';
		DELETE FROM public.sessions WHERE tenant_slug = 'acme'`); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if answer := site.Browser(t).Callback("u-acme"); answer.Status != http.StatusServiceUnavailable ||
				answer.Header.Get("Retry-After") == "" || !strings.Contains(answer.Body, `href="/login"`) {
				t.Errorf("signing in: %d %s", answer.Status, answer.Body)
			}
		})
		all.Go(func() {
			if answer := leaving.Post("/logout", nil); answer.Status != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
				t.Errorf("signing out: %d", answer.Status)
			}
		})
	}
	handlertest.Await(t, "they wait", func() bool { return pgtest.Waiting(t, site.Database) > 0 })
	began := time.Now()
	if answer := globex.API(http.MethodGet, "/api/items", ""); answer.Status != http.StatusOK {
		t.Errorf("of another tenant: %d", answer.Status)
	}
	if answer := site.Browser(t).Callback("u-globex"); answer.Status != http.StatusSeeOther {
		t.Errorf("signing in to another tenant: %d", answer.Status)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("another tenant waited for %v", took)
	}
	all.Wait()
}

// The platform may start a sign-in itself, and its event may be late or lost.
func TestSSO_SignInBeforeTheEvent(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Platform.AddTenant("acme", "Acme", "Pro", simulator.User{ID: "u-acme", Email: "ada@acme.example"})
	b := site.Browser(t)
	if answer := b.Callback("u-acme"); answer.Status != http.StatusSeeOther || answer.Location() != "/" {
		t.Fatalf("%d to %s, want signed in", answer.Status, answer.Location())
	}
	if answer := b.Get("/items"); answer.Status != http.StatusOK {
		t.Errorf("notes: %d", answer.Status)
	}
	site.Subscribe(t, "acme") // the late event finds the tenant there
	if answer := b.Get("/items"); answer.Status != http.StatusOK {
		t.Errorf("notes after the event: %d", answer.Status)
	}
}

func TestSSO_AWorkspaceThatTakesLongToPrepare(t *testing.T) {
	t.Parallel()
	slow := fstest.MapFS{"000001_slow.up.sql": {Data: []byte("SELECT pg_sleep(3); CREATE TABLE items (id bigint)")}}
	site := handlertest.Start(t, fixture.Migrating(slow), handlertest.Setup{})
	site.Platform.AddTenant("acme", "Acme", "Pro", simulator.User{ID: "u-acme", Email: "ada@acme.example"})
	b := site.Browser(t)
	b.Get("/login?return_to=/sessions")
	page := b.Callback("u-acme")
	if page.Status != http.StatusOK || !strings.Contains(page.Body, `http-equiv="refresh"`) || !strings.Contains(page.Body, "/sso/preparing") {
		t.Fatalf("%d %s; want a page that moves on by itself", page.Status, page.Body)
	}
	if answer := b.Get("/api/me"); answer.Status != http.StatusUnauthorized {
		t.Errorf("signed in before the workspace is there: %d", answer.Status)
	}
	var last handlertest.Answer
	handlertest.Await(t, "the workspace is ready", func() bool {
		last = b.Get("/sso/preparing")
		return last.Status == http.StatusSeeOther
	})
	if last.Location() != "/sessions" || b.Get("/api/me").Status != http.StatusOK {
		t.Errorf("to %s; want to the page asked for, signed in", last.Location())
	}
	if n := len(site.Platform.Exchanges()); n != 1 {
		t.Errorf("the code was sent %d times", n)
	}
}

func TestSSO_AnotherIdentityIsNotSwappedInSilently(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "evil")
	who := func(b *handlertest.Browser) string {
		var me map[string]string
		b.Get("/api/me").JSON(t, &me)
		return me["userId"]
	}
	b := site.SignIn(t, "acme")
	page := b.Callback("u-evil") // a link that somebody sent
	if page.Status != http.StatusOK || !strings.Contains(page.Body, "/sso/switch") || !strings.Contains(page.Body, "evil") {
		t.Fatalf("%d %s; want to be asked", page.Status, page.Body)
	}
	if got := who(b); got != "u-acme" {
		t.Fatalf("signed in as %s before the answer", got)
	}
	if answer := b.Post("/sso/stay", nonce(page)); answer.Status != http.StatusSeeOther || who(b) != "u-acme" {
		t.Errorf("stay: %d as %s", answer.Status, who(b))
	}
	if answer := b.Post("/sso/switch", nonce(page)); who(b) != "u-acme" {
		t.Errorf("a switch after staying: %d as %s", answer.Status, who(b))
	}
	page = b.Callback("u-evil")
	if answer := b.Post("/sso/switch", nonce(page)); answer.Status != http.StatusSeeOther || who(b) != "u-evil" {
		t.Errorf("switch: %d as %s", answer.Status, who(b))
	}
	b.Get("/login") // this browser asks itself
	if answer := b.Callback("u-acme"); answer.Status != http.StatusSeeOther || who(b) != "u-acme" {
		t.Errorf("asked for: %d as %s", answer.Status, who(b))
	}
	if answer := b.Callback("u-acme"); answer.Status != http.StatusSeeOther {
		t.Errorf("the same identity again: %d, want no question", answer.Status)
	}
}

func TestSSO_TheTokenChangesAtSignIn(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	token := func() string {
		address, _ := url.Parse(site.URL)
		for _, c := range b.Client.Jar.Cookies(address) {
			if c.Name == "session" {
				return c.Value
			}
		}
		return ""
	}
	first := token()
	b.Callback("u-acme")
	if first == "" || token() == first {
		t.Error("the session kept its token over a sign-in")
	}
	old := site.Browser(t).Do(http.MethodGet, "/api/me", nil, http.Header{"Cookie": {"session=" + first}})
	if old.Status != http.StatusUnauthorized {
		t.Errorf("the old token: %d, want 401", old.Status)
	}
}

func TestSSO_CookiesOfOthers(t *testing.T) {
	t.Parallel()
	site, other := handlertest.Start(t, fixture.Product(), handlertest.Setup{}), handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := other.SignIn(t, "acme")
	address, _ := url.Parse(other.URL)
	foreign := b.Client.Jar.Cookies(address)[0].Value
	for _, token := range []string{"unknown", foreign, strings.Repeat("x", 5000), "a\"b", "%00", "'; DROP TABLE public.sessions; --"} {
		answer := site.Browser(t).Do(http.MethodGet, "/api/me", nil, http.Header{"Cookie": {"session=" + token}})
		if answer.Status != http.StatusUnauthorized {
			t.Errorf("cookie %.20q: %d, want 401", token, answer.Status)
		}
	}
}

func TestSSO_ReturnPathsThatLeadElsewhere(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	for _, to := range sso.Elsewhere {
		b := site.Browser(t)
		b.Get("/login?return_to=" + url.QueryEscape(to))
		location := b.Callback("u-acme").Location()
		if u, err := url.Parse(location); err != nil || u.Host != "" || u.Scheme != "" || strings.HasPrefix(location, "//") ||
			strings.ContainsAny(location, "\\\t\r\n") || strings.HasPrefix(location, "/log") || strings.HasPrefix(location, "/sso") {
			t.Errorf("return_to %q leads to %q", to, location)
		}
	}
}

// A path is checked again when it comes out of the cookie, which a sister
// domain may have set.
func TestSSO_ReturnPathsInAForgedCookie(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	arrive := func(cookie string) string {
		code, err := site.Platform.IssueCode("u-acme")
		if err != nil {
			t.Fatal(err)
		}
		return site.Browser(t).Do(http.MethodGet, "/sso/callback?code="+url.QueryEscape(code), nil, http.Header{"Cookie": {"login=" + cookie}}).Location()
	}
	encoded := func(path string) string { return base64.RawURLEncoding.EncodeToString([]byte(path)) }
	for _, to := range sso.Elsewhere {
		if location := arrive("NONCE." + encoded(to)); location != "/" {
			t.Errorf("%q in the cookie leads to %q", to, location)
		}
	}
	for _, odd := range []string{"", ".", "NONCE", "NONCE.!", "NONCE./items", "." + encoded("//evil.example")} {
		if location := arrive(odd); location != "/" {
			t.Errorf("the cookie %q leads to %q", odd, location)
		}
	}
	if location := arrive("NONCE." + encoded("/items?x=1")); location != "/items?x=1" {
		t.Errorf("a good path leads to %q", location)
	}
}

func TestSSO_TheLogHoldsNoSecretAndNoCode(t *testing.T) {
	t.Parallel()
	var log handlertest.Log
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Log: &log})
	site.Subscribe(t, "acme")
	code, _ := site.Platform.IssueCode("u-acme")
	b := site.Browser(t)
	b.Get("/sso/callback?code=" + code)
	b.Get("/sso/callback?code=" + code)
	b.Get("/items?code=" + code)
	address, _ := url.Parse(site.URL)
	token := b.Client.Jar.Cookies(address)[0].Value
	text := log.String()
	for _, secret := range []string{code, token, handlertest.WebhookSecret, handlertest.APIKey} {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	for _, want := range []string{`"request_id":`, `"tenant":"acme"`, `"route":"/items"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
}
