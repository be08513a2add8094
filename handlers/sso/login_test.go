package sso_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
)

var withState = map[string]string{"SSO_STATE": "true"}

// come is the callback with a fresh code for the user, and with more of a query.
func come(t *testing.T, site *handlertest.Site, b *handlertest.Browser, userID, more string) handlertest.Answer {
	t.Helper()
	code, err := site.Platform.IssueCode(userID)
	if err != nil {
		t.Fatal(err)
	}
	return b.Get("/sso/callback?code=" + url.QueryEscape(code) + more)
}

// stateOf is the state in the address that /login sends to the platform.
func stateOf(t *testing.T, login handlertest.Answer) string {
	t.Helper()
	to, err := url.Parse(login.Location())
	if err != nil {
		t.Fatal(err)
	}
	back, err := url.Parse(to.Query().Get("redirect"))
	if err != nil {
		t.Fatal(err)
	}
	return back.Query().Get("state")
}

// Another site sends the browser to /login first, so that it seems to have
// asked, and then to the callback with a code of its own.
func TestLogin_ThatAnotherSiteCausedDoesNotCount(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "evil")
	b := site.SignIn(t, "acme")
	b.Do(http.MethodGet, "/login?return_to=/items", nil, http.Header{"Sec-Fetch-Site": {"cross-site"}})
	if page := b.Callback("u-evil"); !strings.Contains(page.Body, "/sso/switch") || b.User() != "u-acme" {
		t.Errorf("%d, signed in as %q; want to be asked", page.Status, b.User())
	}
	for _, own := range []string{"same-origin", "none"} {
		b := site.SignIn(t, "acme")
		b.Do(http.MethodGet, "/login", nil, http.Header{"Sec-Fetch-Site": {own}})
		if b.Callback("u-evil"); b.User() != "u-evil" {
			t.Errorf("%s: a browser that asked itself is %q", own, b.User())
		}
	}
}

// The answer to one visit to /login is good for one callback.
func TestLogin_CountsOnce(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "evil")
	b := site.SignIn(t, "acme")
	b.Get("/login")
	b.Callback("u-acme")
	if b.Callback("u-evil"); b.User() != "u-acme" {
		t.Errorf("a second callback made it %q", b.User())
	}
}

func TestLogin_StateComesBackOrTheCallbackWasNotAskedFor(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: withState})
	site.Subscribe(t, "evil")
	for name, state := range map[string]func(right string) string{
		"none":      func(string) string { return "" },
		"wrong":     func(string) string { return "&state=AAAAAAAAAAAAAAAAAAAAAAAAAA" },
		"empty":     func(string) string { return "&state=" },
		"twice":     func(right string) string { return "&state=" + right + "&state=" + right },
		"truncated": func(right string) string { return "&state=" + right[:20] },
	} {
		b := site.SignIn(t, "acme")
		right := stateOf(t, b.Get("/login"))
		if page := come(t, site, b, "u-evil", state(right)); !strings.Contains(page.Body, "/sso/switch") || b.User() != "u-acme" {
			t.Errorf("%s: %d, signed in as %q; want to be asked", name, page.Status, b.User())
		}
	}
	b := site.SignIn(t, "acme")
	right := stateOf(t, b.Get("/login?return_to=/sessions"))
	if answer := come(t, site, b, "u-evil", "&state="+right); answer.Location() != "/sessions" || b.User() != "u-evil" {
		t.Errorf("with its state: %d to %q as %q", answer.Status, answer.Location(), b.User())
	}
}

// The contract writes <redirect>?code=, so that nothing is added by default; and
// a sign-in that the platform starts has no state at all.
func TestLogin_StateIsOffByDefaultAndThePlatformMayStart(t *testing.T) {
	t.Parallel()
	plain := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	if state := stateOf(t, plain.Browser(t).Get("/login")); state != "" {
		t.Errorf("there is a state: %q", state)
	}
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: withState})
	if b := site.SignIn(t, "acme"); b.User() != "u-acme" {
		t.Errorf("started by the platform: signed in as %q", b.User())
	}
}

// The second tab's login replaces the first one's: whoever comes back first and
// late is signed in where nobody is, and asked where somebody is.
func TestLogin_TwoTabs(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: withState})
	site.Subscribe(t, "acme")
	site.Subscribe(t, "globex")
	b := site.Browser(t)
	first := stateOf(t, b.Get("/login?return_to=/sessions"))
	second := stateOf(t, b.Get("/login?return_to=/items"))
	if answer := come(t, site, b, "u-acme", "&state="+second); answer.Location() != "/items" {
		t.Errorf("second tab: %d to %q", answer.Status, answer.Location())
	}
	if answer := come(t, site, b, "u-acme", "&state="+first); answer.Location() != "/" || b.User() != "u-acme" {
		t.Errorf("first tab, the same person: %d to %q", answer.Status, answer.Location())
	}
	if page := come(t, site, b, "u-globex", "&state="+first); !strings.Contains(page.Body, "/sso/switch") || b.User() != "u-acme" {
		t.Errorf("first tab, another person: %d as %q", page.Status, b.User())
	}
}

// What was kept aside is gone when the browser's owner signs in otherwise, and
// nobody else's browser can say yes for it.
func TestLogin_AKeptIdentityIsOfThisBrowserAndGoesAway(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "evil")
	b, other := site.SignIn(t, "acme"), site.SignIn(t, "globex")
	b.Callback("u-evil")
	if other.Post("/sso/switch", nil); other.User() != "u-globex" {
		t.Errorf("another browser became %q", other.User())
	}
	b.Get("/login")
	b.Callback("u-acme")
	if b.Post("/sso/switch", nil); b.User() != "u-acme" {
		t.Errorf("after a sign-in of its own it became %q", b.User())
	}
}

// A question that stands open for hours is no consent.
func TestLogin_AKeptIdentityExpires(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "evil")
	b := site.SignIn(t, "acme")
	b.Callback("u-evil")
	site.Exec(t, `UPDATE public.sessions SET data = convert_to(regexp_replace(convert_from(data, 'UTF8'),
		'(\\"until\\":\\")[0-9]{4}', '\12000'), 'UTF8') WHERE user_id = 'u-acme'`)
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM public.sessions WHERE convert_from(data, 'UTF8') LIKE '%:\\"2000-%'`); n != 1 {
		t.Fatal("the test has not aged it")
	}
	if b.Post("/sso/switch", nil); b.User() != "u-acme" {
		t.Errorf("it became %q", b.User())
	}
}

// The questions are answered by this server's own forms alone.
func TestLogin_AnotherSiteCannotAnswerTheQuestionOrSignOut(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "evil")
	b := site.SignIn(t, "acme")
	b.Callback("u-evil")
	for _, path := range []string{"/sso/switch", "/sso/stay", "/logout", "/sessions/revoke-others", "/sessions/1/revoke", "/items"} {
		for name, h := range map[string]http.Header{
			"fetch metadata": {"Sec-Fetch-Site": {"cross-site"}}, "a subdomain": {"Sec-Fetch-Site": {"same-site"}},
			"origin": {"Origin": {"https://evil.example"}}, "null origin": {"Origin": {"null"}},
			"an override": {"Sec-Fetch-Site": {"cross-site"}, "X-HTTP-Method-Override": {"GET"}},
		} {
			if answer := b.Do(http.MethodPost, path, nil, h); answer.Status != http.StatusForbidden {
				t.Errorf("%s by %s: %d, want 403", path, name, answer.Status)
			}
		}
		if answer := b.Get(path + "?_method=POST"); path != "/items" && answer.Status != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: %d, want 405", path, answer.Status)
		}
	}
	if b.User() != "u-acme" {
		t.Errorf("now it is %q", b.User())
	}
}

// The page that the code came to tells nobody its address, whatever it says.
func TestLogin_TheCodeDoesNotLeakByReferer(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "evil")
	b := site.SignIn(t, "acme")
	for name, page := range map[string]handlertest.Answer{
		"question": b.Callback("u-evil"), "signed in": b.Callback("u-acme"),
		"refused": b.Get("/sso/callback?code=made-up"), "incomplete": b.Get("/sso/callback?code=a&code=b"),
	} {
		if got := page.Header.Get("Referrer-Policy"); got != "no-referrer" {
			t.Errorf("%s: Referrer-Policy %q", name, got)
		}
		if strings.Contains(page.Body+page.Location(), "code=") || strings.Contains(page.Body, "made-up") {
			t.Errorf("%s: the code is in the answer", name)
		}
	}
}
