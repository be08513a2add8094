package session_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/tenancy"
)

// knock says what a cookie is worth.
func knock(t *testing.T, site *handlertest.Site, cookie string) int {
	t.Helper()
	return site.Browser(t).Do(http.MethodGet, "/api/me", nil, http.Header{"Cookie": {cookie}}).Status
}

// Whoever reads the table can sign in as nobody.
func TestSession_AStolenRowGivesNoSession(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	if status := knock(t, site, "session="+b.Token()); status != http.StatusOK {
		t.Fatalf("the cookie itself: %d", status)
	}
	row := handlertest.Query[string](t, site, `SELECT s::text || encode(data, 'escape') FROM public.sessions s`)
	if strings.Contains(row, b.Token()) {
		t.Error("the token stands in the row")
	}
	hash := handlertest.Query[[]byte](t, site, `SELECT token_hash FROM public.sessions`)
	for name, value := range map[string]string{
		"hex": hex.EncodeToString(hash), "base64": base64.StdEncoding.EncodeToString(hash), "URL base64": base64.RawURLEncoding.EncodeToString(hash),
		"escaped": url.QueryEscape(string(hash)), "id": handlertest.Query[string](t, site, `SELECT id::text FROM public.sessions`),
	} {
		if status := knock(t, site, "session="+value); status != http.StatusUnauthorized {
			t.Errorf("%s of the row: %d, want 401", name, status)
		}
	}
}

// On https the cookie cannot be set or read by a sister domain, by a script, by
// an insecure page, or with another site's write.
func TestSession_CookiesOnHTTPS(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"PUBLIC_URL": "https://app.example"}})
	site.Subscribe(t, "acme")
	code, err := site.Platform.IssueCode("u-acme")
	if err != nil {
		t.Fatal(err)
	}
	b := site.Browser(t)
	signIn := b.Get("/sso/callback?code=" + url.QueryEscape(code))
	for _, c := range []*http.Cookie{signIn.Cookie("__Host-session"), b.Get("/login").Cookie("__Host-login")} {
		if c == nil || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
			t.Fatalf("cookie %v", c)
		}
	}
	token := signIn.Cookie("__Host-session").Value
	if status := knock(t, site, "__Host-session="+token); status != http.StatusOK {
		t.Errorf("the cookie itself: %d", status)
	}
	for _, tossed := range []string{"session=" + token, "__host-session=" + token, "__Secure-session=" + token, " __Host-Session=" + token} {
		if status := knock(t, site, tossed); status != http.StatusUnauthorized {
			t.Errorf("%.20s: %d, want 401", tossed, status)
		}
	}
	if got := signIn.Header.Get("Strict-Transport-Security"); !strings.Contains(got, "max-age=63072000") {
		t.Errorf("HSTS is %q", got)
	}
}

// A token that somebody planted is never taken over: the server's own is new.
func TestSession_APlantedTokenIsNotTakenOver(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	planted := strings.Repeat("A", 43)
	code, _ := site.Platform.IssueCode("u-acme")
	answer := site.Browser(t).Do(http.MethodGet, "/sso/callback?code="+url.QueryEscape(code), nil, http.Header{"Cookie": {"session=" + planted}})
	if c := answer.Cookie("session"); c == nil || c.Value == planted || len(c.Value) < 43 {
		t.Fatalf("cookie %v", c)
	}
	if status := knock(t, site, "session="+planted); status != http.StatusUnauthorized {
		t.Errorf("the planted token: %d", status)
	}
}

// Use does not make a session longer, and at its end it is over.
func TestSession_LifeIsAbsolute(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"SESSION_LIFETIME": "90m"}})
	site.Subscribe(t, "evil")
	b := site.SignIn(t, "acme")
	end := handlertest.Query[time.Time](t, site, `SELECT expires_at FROM public.sessions`)
	if left := time.Until(end); left > 90*time.Minute || left < 85*time.Minute {
		t.Errorf("it lasts %v", left)
	}
	b.Get("/items")
	page := b.Callback("u-evil") // the question writes into the session
	b.Post("/sso/stay", url.Values{"nonce": {page.Hidden("nonce")}})
	if now := handlertest.Query[time.Time](t, site, `SELECT expires_at FROM public.sessions`); !now.Equal(end) {
		t.Errorf("use moved the end from %v to %v", end, now)
	}
	site.Exec(t, `UPDATE public.sessions SET expires_at = now()`)
	if user := b.User(); user != "" {
		t.Errorf("after its end it is still %s", user)
	}
}

func TestSession_EndingSessions(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	replica := site.Replica(t, fixture.Product(), handlertest.Setup{})
	site.Platform.AddTenant("acme", "acme", "Pro", simulator.User{ID: "u-acme", Email: "a@acme.example"}, simulator.User{ID: "u-two", Email: "b@acme.example"})
	site.Platform.AddTenant("globex", "globex", "Pro", simulator.User{ID: "u-globex", Email: "c@globex.example"})
	arrive := func(user string) *handlertest.Browser { b := replica.Browser(t); b.Callback(user); return b }
	first, second, colleague, stranger := arrive("u-acme"), arrive("u-acme"), arrive("u-two"), arrive("u-globex")
	id := func(b *handlertest.Browser) string {
		sum := handlertest.Query[int64](t, site, `SELECT id FROM public.sessions WHERE token_hash = sha256($1)`, []byte(b.Token()))
		return strconv.FormatInt(sum, 10)
	}
	if page := first.Get("/sessions"); strings.Count(page.Body, "<li>") != 2 || strings.Contains(page.Body, "/sessions/"+id(colleague)+"/") {
		t.Errorf("the list is not of one's own two:\n%s", page.Body)
	}
	for name, b := range map[string]*handlertest.Browser{"a colleague": colleague, "a stranger": stranger} {
		if answer := first.Post("/sessions/"+id(b)+"/revoke", nil); answer.Status != http.StatusNotFound || b.User() == "" {
			t.Errorf("%s's session: %d, and is it there: %q", name, answer.Status, b.User())
		}
	}
	for _, odd := range []string{"0", "-1", "99999999999999999999", "1%2F..%2F2", "1;2", "x"} {
		if answer := first.Post("/sessions/"+odd+"/revoke", nil); answer.Status != http.StatusNotFound {
			t.Errorf("session %s: %d, want 404", odd, answer.Status)
		}
	}
	if first.Post("/sessions/"+id(second)+"/revoke", nil); second.User() != "" || first.User() != "u-acme" {
		t.Errorf("singly: the other is %q, this one %q", second.User(), first.User())
	}
	third := arrive("u-acme")
	if third.Post("/sessions/revoke-others", nil); first.User() != "" || third.User() != "u-acme" || colleague.User() != "u-two" {
		t.Errorf("elsewhere: the other is %q, this one %q, the colleague %q", first.User(), third.User(), colleague.User())
	}
}

// A request that was under way when its session was ended does not bring the
// session back: neither the question that writes into it, nor the answer.
func TestSession_ThatEndedStaysEnded(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "evil")
	b := site.SignIn(t, "acme")
	site.Platform.SetFaults(simulator.Faults{UserInfoDelay: simulator.Delay(time.Second)})
	var thief sync.WaitGroup
	var answer handlertest.Answer
	thief.Go(func() { answer = b.Callback("u-evil") })
	handlertest.Await(t, "the exchange is under way", func() bool { return len(site.Platform.Exchanges()) > 1 })
	site.Exec(t, `DELETE FROM public.sessions`)
	thief.Wait()
	if answer.Status != http.StatusUnauthorized {
		t.Errorf("%d, want 401", answer.Status)
	}
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM public.sessions`); n != 0 || b.User() != "" {
		t.Errorf("%d sessions, signed in as %q", n, b.User())
	}
}

// Nobody fills the table without a code of the platform.
func TestSession_VisitorsMakeNoRows(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	visit := func(path string, answer handlertest.Answer) {
		if n := handlertest.Query[int](t, site, `SELECT count(*) FROM public.sessions`); n != 0 || answer.Cookie("session") != nil && answer.Cookie("session").Value != "" {
			t.Errorf("%s: %d rows, cookie %v", path, n, answer.Cookie("session"))
		}
	}
	for _, path := range []string{"/sso/stay", "/sso/switch", "/logout", "/items", "/sessions/revoke-others"} {
		visit("POST "+path, site.Browser(t).Post(path, nil)) // a visitor of his own: a logout would tidy up
	}
	for _, path := range []string{"/", "/login", "/sso/preparing", "/sso/callback?code=x", "/items", "/nothing"} {
		visit("GET "+path, site.Browser(t).Get(path))
	}
}

// A page that needed a sign-in is not kept anywhere: after the logout, Back
// shows nothing.
func TestSession_NothingPrivateIsKeptAfterALogout(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	token := b.Token()
	for _, path := range []string{"/", "/items", "/sessions", "/api/me", "/api/items"} {
		if answer := b.Get(path); answer.Status != http.StatusOK || answer.Header.Get("Cache-Control") != "no-store" || !strings.Contains(answer.Header.Get("Vary"), "Cookie") {
			t.Errorf("%s: %d, Cache-Control %q, Vary %q", path, answer.Status, answer.Header.Get("Cache-Control"), answer.Header.Get("Vary"))
		}
	}
	if gone := b.Post("/logout", nil).Cookie("session"); gone == nil || gone.MaxAge >= 0 || gone.Value != "" {
		t.Errorf("the cookie is %v", gone)
	}
	if status := knock(t, site, "session="+token); status != http.StatusUnauthorized {
		t.Errorf("the old token: %d", status)
	}
	if answer := b.Get("/items"); answer.Status != http.StatusSeeOther {
		t.Errorf("Back: %d, want to the login", answer.Status)
	}
}

// Sessions of a user and of a tenant, for a product's own needs.
func TestSession_EndingSessionsOfAUserAndOfATenant(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	db, err := tenancy.Open(t.Context(), tenancy.Options{URL: site.Database})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	acme, again, globex := site.SignIn(t, "acme"), site.SignIn(t, "acme"), site.SignIn(t, "globex")
	slug, _ := tenancy.ParseSlug("acme")
	if n, err := db.EndUserSessions(t.Context(), slug, "u-globex"); n != 0 || err != nil || globex.User() == "" {
		t.Errorf("a user of another tenant: %d, %v", n, err)
	}
	if n, err := db.EndUserSessions(t.Context(), slug, "u-acme"); n != 2 || err != nil || acme.User()+again.User() != "" || globex.User() == "" {
		t.Errorf("a user: %d, %v", n, err)
	}
	acme = site.SignIn(t, "acme")
	if n, err := db.EndTenantSessions(t.Context(), slug); n != 1 || err != nil || acme.User() != "" || globex.User() == "" {
		t.Errorf("a tenant: %d, %v", n, err)
	}
}

// The page that a form comes back to after a sign-in is this server's by its
// setting, not by what the request says of itself.
func TestSession_TheWayBackDoesNotTrustTheHost(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	post := func(host, referer string) string {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, site.URL+"/items", nil)
		request.Header.Set("Referer", referer)
		request.Host = host
		response, err := site.Browser(t).Client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.Header.Get("Location")
	}
	own := site.Config.PublicURL.Host
	for _, c := range []struct{ host, referer, want string }{
		{own, site.URL + "/items?x=1", "/login?return_to=%2Fitems%3Fx%3D1"},
		{"evil.example", "http://evil.example/phish", "/login?return_to=%2F"},
		{"evil.example", site.URL + "/items", "/login?return_to=%2Fitems"},
		{own, "http://" + own + "@evil.example/x", "/login?return_to=%2F"},
		{own, "javascript:alert(1)", "/login?return_to=%2F"},
	} {
		if got := post(c.host, c.referer); got != c.want {
			t.Errorf("Host %s, Referer %s: %s, want %s", c.host, c.referer, got, c.want)
		}
	}
}
