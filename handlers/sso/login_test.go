package sso_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/localpg/pgtest"
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

// nonce is what the buttons of a switch page send.
func nonce(page handlertest.Answer) url.Values { return url.Values{"nonce": {page.Hidden("nonce")}} }

// Another site, or a sister domain, sends the browser to /login first, so that
// it seems to have asked, and then to the callback with a code of its own.
func TestLogin_ThatAnotherSiteCausedDoesNotCount(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "evil")
	for name, h := range map[string]http.Header{
		"another site": {"Sec-Fetch-Site": {"cross-site"}}, "a sister domain": {"Sec-Fetch-Site": {"same-site"}}, "nonsense": {"Sec-Fetch-Site": {"x"}},
		"another site's word": {"Sec-Fetch-Site": {"cross-site"}, "Referer": {site.URL + "/"}}, "a browser that does not say": {},
		"the same, with a Referer": {"Referer": {"https://evil.example/"}}, "a Referer that begins alike": {"Referer": {site.URL + ".evil.example/"}},
	} {
		b := site.SignIn(t, "acme")
		b.Do(http.MethodGet, "/login?return_to=/items", nil, h)
		if page := b.Callback("u-evil"); !strings.Contains(page.Body, "/sso/switch") || b.User() != "u-acme" {
			t.Errorf("%s: %d, signed in as %q; want to be asked", name, page.Status, b.User())
		}
	}
	for name, h := range map[string]http.Header{
		"a page of ours": {"Sec-Fetch-Site": {"same-origin"}}, "by hand": {"Sec-Fetch-Site": {"none"}}, "a page of ours, by Referer": {"Referer": {site.URL + "/items"}},
	} {
		b := site.SignIn(t, "acme")
		b.Do(http.MethodGet, "/login", nil, h)
		if b.Callback("u-evil"); b.User() != "u-evil" {
			t.Errorf("%s: a browser that asked itself is %q", name, b.User())
		}
	}
}

// One user of two tenants is two identities.
func TestSSO_TheSameUserInAnotherTenantIsAskedAbout(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "other")
	b := site.SignIn(t, "acme")
	if _, err := site.Platform.SaveUser(simulator.User{ID: "u-acme", Email: "user@acme.example", Tenant: "other"}); err != nil {
		t.Fatal(err)
	}
	page := b.Callback("u-acme")
	var me struct{ TenantSlug string }
	b.Get("/api/me").JSON(t, &me)
	if page.Hidden("nonce") == "" || me.TenantSlug != "acme" {
		t.Fatalf("%d, in %q; want to be asked", page.Status, me.TenantSlug)
	}
	b.Post("/sso/switch", nonce(page))
	if b.Get("/api/me").JSON(t, &me); me.TenantSlug != "other" {
		t.Errorf("after the switch in %q", me.TenantSlug)
	}
}

// A page's button means what that page showed, also when a later page has asked
// about somebody else since.
func TestSwitch_AnOlderPagesButtonsDoNothing(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "friend")
	site.Subscribe(t, "evil")
	b := site.SignIn(t, "acme")
	first := b.Callback("u-friend")
	second := b.Callback("u-evil")
	for name, form := range map[string]url.Values{"the first page's": nonce(first), "none": nil, "empty": {"nonce": {""}}} {
		for _, path := range []string{"/sso/switch", "/sso/stay"} {
			if answer := b.Post(path, form); answer.Location() != "/" || b.User() != "u-acme" {
				t.Errorf("%s with nonce %s: to %q as %q", path, name, answer.Location(), b.User())
			}
		}
	}
	if b.Post("/sso/switch", nonce(second)); b.User() != "u-evil" {
		t.Errorf("the second page's button made it %q", b.User())
	}
}

// A switch of which a half cannot be written is none: neither is the old session
// lost, nor does its token live on beside the new one.
func TestSwitch_ThatFailsLeavesTheSession(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "friend")
	site.Exec(t, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'full'; END $$`)
	b := site.SignIn(t, "acme")
	token, page := b.Token(), b.Callback("u-friend")
	for _, half := range []string{"INSERT", "DELETE"} {
		site.Exec(t, `CREATE TRIGGER refuse BEFORE `+half+` ON public.sessions FOR EACH ROW EXECUTE FUNCTION refuse()`)
		answer := b.Post("/sso/switch", nonce(page))
		site.Exec(t, `DROP TRIGGER refuse ON public.sessions`)
		if answer.Status < 500 || answer.Cookie("session") != nil || b.Token() != token || b.User() != "u-acme" {
			t.Errorf("without %s: %d, signed in as %q", half, answer.Status, b.User())
		}
		if n := handlertest.Query[int](t, site, `SELECT count(*) FROM public.sessions`); n != 1 {
			t.Errorf("without %s: %d sessions, want the old one", half, n)
		}
	}
	if b.Post("/sso/switch", nonce(page)); b.User() != "u-friend" {
		t.Errorf("the same button made it %q", b.User())
	}
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM public.sessions`); n != 1 {
		t.Errorf("%d sessions, want the new one", n)
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

// A visit that another site caused has no state; an empty one does not answer it.
func TestLogin_ThatAnotherSiteCausedIsAnsweredByNoState(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: withState})
	site.Subscribe(t, "evil")
	for _, state := range []string{"&state=", "&state", ""} {
		b := site.SignIn(t, "acme")
		b.Do(http.MethodGet, "/login", nil, http.Header{"Sec-Fetch-Site": {"cross-site"}})
		if page := come(t, site, b, "u-evil", state); !strings.Contains(page.Body, "/sso/switch") || b.User() != "u-acme" {
			t.Errorf("%q: %d, signed in as %q; want to be asked", state, page.Status, b.User())
		}
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

// Who agrees to a switch may have to wait for the workspace, and is not asked
// again.
func TestSwitch_IntoAWorkspaceThatTakesLongToPrepare(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Platform.AddTenant("new", "New", "Pro", simulator.User{ID: "u-new", Email: "ada@new.example"})
	b := site.SignIn(t, "acme")
	question := b.Callback("u-new")
	holder := pgtest.Connect(t, site.Database)
	defer holder.Close(context.Background())
	if _, err := holder.Exec(t.Context(), `SELECT pg_advisory_lock($1::int, hashtext('new'))`, tenancy.LockKey); err != nil {
		t.Fatal(err)
	}
	if page := b.Post("/sso/switch", nonce(question)); !strings.Contains(page.Body, "/sso/preparing") || b.User() != "u-acme" {
		t.Fatalf("%d, signed in as %q; want the page that waits", page.Status, b.User())
	}
	_ = holder.Close(t.Context())
	handlertest.Await(t, "the workspace is ready", func() bool { return b.Get("/sso/preparing").Status == http.StatusSeeOther })
	if b.User() != "u-new" {
		t.Errorf("signed in as %q", b.User())
	}
}

// Who waits for the workspace may leave, and is not signed in when it is there.
func TestLogout_WhileTheWorkspaceIsPrepared(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Platform.AddTenant("new", "New", "Pro", simulator.User{ID: "u-new", Email: "ada@new.example"})
	holder := pgtest.Connect(t, site.Database)
	defer holder.Close(context.Background())
	if _, err := holder.Exec(t.Context(), `SELECT pg_advisory_lock($1::int, hashtext('new'))`, tenancy.LockKey); err != nil {
		t.Fatal(err)
	}
	b := site.Browser(t)
	if page := b.Callback("u-new"); !strings.Contains(page.Body, "/sso/preparing") {
		t.Fatalf("%d; want the page that waits", page.Status)
	}
	if answer := b.Post("/logout", nil); answer.Status != http.StatusSeeOther || answer.Location() != "/" {
		t.Errorf("logout: %d to %q", answer.Status, answer.Location())
	}
	_ = holder.Close(t.Context())
	handlertest.Await(t, "the workspace is ready", func() bool {
		return handlertest.Query[bool](t, site, `SELECT EXISTS (SELECT FROM public.tenants WHERE slug = 'new')`)
	})
	if b.Get("/sso/preparing"); b.User() != "" {
		t.Errorf("signed in as %q", b.User())
	}
}

// What was kept aside is gone when the browser's owner signs in otherwise, and
// nobody else's browser can say yes for it.
func TestLogin_AKeptIdentityIsOfThisBrowserAndGoesAway(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "evil")
	b, other := site.SignIn(t, "acme"), site.SignIn(t, "globex")
	page := b.Callback("u-evil")
	if other.Post("/sso/switch", nonce(page)); other.User() != "u-globex" {
		t.Errorf("another browser became %q", other.User())
	}
	b.Get("/login")
	b.Callback("u-acme")
	if b.Post("/sso/switch", nonce(page)); b.User() != "u-acme" {
		t.Errorf("after a sign-in of its own it became %q", b.User())
	}
}

// A question that stands open for hours is no consent.
func TestLogin_AKeptIdentityExpires(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "evil")
	b := site.SignIn(t, "acme")
	page := b.Callback("u-evil")
	site.Exec(t, `UPDATE public.sessions SET data = convert_to(regexp_replace(convert_from(data, 'UTF8'),
		'(\\"until\\":\\")[0-9]{4}', '\12000'), 'UTF8') WHERE user_id = 'u-acme'`)
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM public.sessions WHERE convert_from(data, 'UTF8') LIKE '%:\\"2000-%'`); n != 1 {
		t.Fatal("the test has not aged it")
	}
	if b.Post("/sso/switch", nonce(page)); b.User() != "u-acme" {
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

// flooded is the answer to one request too many.
func flooded(t *testing.T, path string) (answer handlertest.Answer) {
	t.Helper()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"LOGIN_RATE_LIMIT": "1"}})
	b := site.Browser(t)
	handlertest.Await(t, "there were too many", func() bool {
		answer = b.Get(path)
		return answer.Status == http.StatusTooManyRequests
	})
	return answer
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
		"405": b.Post("/sso/callback?code=made-up", nil), "limited": flooded(t, "/sso/callback?code=made-up"),
		"another site's": b.Do(http.MethodPost, "/sso/callback?code=made-up", nil, http.Header{"Sec-Fetch-Site": {"cross-site"}}),
	} {
		if got := page.Header.Get("Referrer-Policy"); got != "no-referrer" {
			t.Errorf("%s: Referrer-Policy %q", name, got)
		}
		if strings.Contains(page.Body+page.Location(), "code=") || strings.Contains(page.Body, "made-up") {
			t.Errorf("%s: the code is in the answer", name)
		}
	}
}
