package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/handlers/web"
)

// every is one address of each kind, for what must hold everywhere.
var every = []string{
	"/", "/login", "/sso/callback", "/sso/callback?code=x", "/sso/preparing", "/items", "/sessions", "/api/me", "/api/items", "/healthz", "/livez",
	"/nothing", "/api/nothing", "/static/nothing.css", "/webhooks/platform", "//evil.example/..", "/%2e%2e/%2e%2e/etc/passwd", "/items/", "/static/../.env",
}

func TestRequests_HeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"PUBLIC_URL": "https://app.example"}})
	for _, path := range every {
		answer := site.Browser(t).Get(path)
		policy := answer.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "style-src 'self'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: no %s in the policy %q", path, want, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src") || strings.Contains(policy, "*") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Strict-Transport-Security": "max-age=63072000; includeSubDomains",
			"Access-Control-Allow-Origin": "", "Server": "", "X-Powered-By": "",
		} {
			if got := answer.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		if got := answer.Header.Get("Referrer-Policy"); got != "same-origin" && got != "no-referrer" {
			t.Errorf("%s: Referrer-Policy is %q", path, got)
		}
	}
}

// Only what is named after its content may be cached, and by whom is the same
// for everybody.
func TestRequests_OnlyHashedFilesAreCached(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	page := site.Browser(t).Get("/")
	file := regexp.MustCompile(`/static/[^"]+\.css`).FindString(page.Body)
	answer := site.Browser(t).Get(file)
	if answer.Status != http.StatusOK || !strings.Contains(answer.Header.Get("Cache-Control"), "immutable") || answer.Header.Get("Set-Cookie") != "" {
		t.Errorf("%s: %d %v", file, answer.Status, answer.Header)
	}
	for _, other := range []string{"/static/app.css", "/static/", "/static", file + "/", "/static/%2e%2e/static.go", "/static/..%2fstatic.go", "/static//" + file[8:], strings.ToUpper(file)} {
		if answer := site.Browser(t).Get(other); answer.Status == http.StatusOK || answer.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %q", other, answer.Status, answer.Header.Get("Cache-Control"))
		}
	}
}

// Nothing is built from what a request says of the server's own address.
func TestRequests_TheHostIsNotTrusted(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	client := site.Browser(t).Client
	for _, path := range every {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, site.URL, nil)
		request.URL.Opaque = path
		request.Host = "poison.example"
		for _, name := range []string{"X-Forwarded-Host", "X-Forwarded-Server", "X-Host", "X-Original-URL", "X-Rewrite-URL", "Forwarded", "X-Forwarded-Prefix"} {
			request.Header.Set(name, "poison.example/poison")
		}
		request.Header.Set("Forwarded", "host=poison.example;proto=https")
		request.Header.Set("X-Forwarded-Proto", "https")
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		delete(response.Header, "Date")
		if text := fmt.Sprint(response.Header) + string(body); strings.Contains(text, "poison") {
			t.Errorf("%s: the answer repeats it: %s", path, text)
		}
		for _, cookie := range response.Cookies() {
			if cookie.Secure {
				t.Errorf("%s: X-Forwarded-Proto of anybody made %s Secure", path, cookie.Name)
			}
		}
	}
}

// The address of a client is that of its connection, and what a trusted proxy
// says it is; a client cannot choose it.
func TestRequests_OnlyTrustedProxiesSayWhoTheClientIs(t *testing.T) {
	t.Parallel()
	flood := func(site *handlertest.Site, header func(i int) http.Header) (limited handlertest.Answer, n int) {
		for i := range 40 {
			if answer := site.Browser(t).Do(http.MethodGet, "/login", nil, header(i)); answer.Status == http.StatusTooManyRequests {
				limited, n = answer, n+1
			}
		}
		return limited, n
	}
	each := func(i int) http.Header {
		ip := fmt.Sprintf("203.0.113.%d", i)
		return http.Header{"X-Forwarded-For": {ip}, "X-Real-Ip": {ip}, "Forwarded": {"for=" + ip}, "True-Client-Ip": {ip}, "Cf-Connecting-Ip": {ip}}
	}
	plain := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"LOGIN_RATE_LIMIT": "1"}})
	answer, n := flood(plain, each)
	if n < 30 || answer.Header.Get("Retry-After") != "1" || !strings.Contains(answer.Body, "<h1>") || answer.Header.Get("Set-Cookie") != "" {
		t.Errorf("not behind a proxy: %d of 40 were limited, Retry-After %q", n, answer.Header.Get("Retry-After"))
	}
	if answer := plain.Browser(t).Get("/sso/callback?code=x"); answer.Status != http.StatusTooManyRequests {
		t.Errorf("the callback has a limit of its own: %d", answer.Status)
	}
	if answer := plain.Browser(t).Get("/"); answer.Status != http.StatusOK {
		t.Errorf("other pages are limited too: %d", answer.Status)
	}
	behind := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"LOGIN_RATE_LIMIT": "1", "TRUSTED_PROXIES": "127.0.0.0/8, 10.0.0.0/8"}})
	if _, n := flood(behind, each); n != 0 {
		t.Errorf("behind a proxy, 40 clients: %d were limited", n)
	}
	// A client behind the proxy adds addresses of its choice in front of its own.
	forged := func(i int) http.Header {
		return http.Header{"X-Forwarded-For": {fmt.Sprintf("198.51.100.%d", i), "203.0.113.99, 10.1.1.1"}}
	}
	if _, n := flood(behind, forged); n < 30 {
		t.Errorf("behind a proxy, one client with forged addresses: %d of 40 were limited", n)
	}
	off := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"LOGIN_RATE_LIMIT": "0"}})
	if _, n := flood(off, each); n != 0 {
		t.Errorf("turned off: %d were limited", n)
	}
}

// A flood of callbacks costs the platform no more than the limit.
func TestRequests_AFloodOfCallbacksDoesNotReachThePlatform(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"LOGIN_RATE_LIMIT": "1"}})
	began := time.Now()
	var all sync.WaitGroup
	for range 10 {
		b := site.Browser(t)
		all.Go(func() {
			for range 20 {
				b.Get("/sso/callback?code=made-up")
			}
		})
	}
	all.Wait()
	if n, most := len(site.Platform.Exchanges()), 6+int(time.Since(began).Seconds()); n > most {
		t.Errorf("200 callbacks became %d exchanges, want at most %d", n, most)
	}
}

// Odd methods and spellings reach no handler that the plain one would not.
func TestRequests_OddMethodsAndPaths(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	b.API(http.MethodPost, "/api/items", `{"label":"mine"}`)
	for _, method := range []string{"TRACE", "TRACK", "PROPFIND", "PATCH", "PUT", "HEAD", "OPTIONS", "get", "DELETE", "X-PLODE"} {
		for _, path := range []string{"/items", "/api/items", "/sessions", "/logout", "/sso/switch", "/login"} {
			answer := b.Do(method, path, nil, http.Header{"X-Http-Method-Override": {"POST"}, "X-Secret": {"echo-me"}})
			if answer.Status/100 == 2 && method != "HEAD" || strings.Contains(answer.Body, "echo-me") || answer.Status >= 500 {
				t.Errorf("%s %s: %d %s", method, path, answer.Status, answer.Body)
			}
		}
	}
	for _, path := range []string{
		"//api/items", "/api//items", "/API/items", "/api/items/", "/api/./items", "/x/../api/items", "/api%2Fitems", "/%61pi/items", "/api/items;x=1", "/api/items%00", "/api/items.json",
	} {
		if answer := b.Get(path); answer.Status < 300 || answer.Status >= 500 || strings.Contains(answer.Body, "mine") {
			t.Errorf("%s: %d %s", path, answer.Status, answer.Body)
		}
	}
	for _, id := range []string{"1%2F..", "..%2F1", "1e0", "0x1", " 1", "１", "+1", "1;DROP", "9223372036854775808", "-9223372036854775808", "1,2", "1 OR 1=1", "%2e%2e"} {
		if answer := b.API(http.MethodDelete, "/api/items/"+strings.ReplaceAll(id, " ", "%20"), ""); answer.Status != http.StatusNotFound && id != "+1" {
			t.Errorf("id %s: %d, want 404", id, answer.Status)
		}
	}
	if user := b.User(); user != "u-acme" {
		t.Errorf("signed in as %q afterwards", user)
	}
}

// What others wrote is text on every page.
func TestRequests_NothingIsRenderedAsMarkup(t *testing.T) {
	t.Parallel()
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Platform.AddTenant("acme", evil, "Pro", simulator.User{ID: "u-acme", Email: evil})
	b := site.Browser(t)
	code, _ := site.Platform.IssueCode("u-acme")
	b.Do(http.MethodGet, "/sso/callback?code="+url.QueryEscape(code), nil, http.Header{"User-Agent": {evil}})
	b.Post("/items", url.Values{"label": {evil}})
	b.Post("/items", url.Values{"label": {strings.Repeat(evil, 10)}})
	for _, page := range []handlertest.Answer{
		b.Get("/"), b.Get("/items"), b.Get("/sessions"), b.Post("/items", url.Values{"label": {strings.Repeat(evil, 10)}}),
		b.Get("/nothing?" + url.QueryEscape(evil)), b.Get("/" + url.PathEscape(evil)), b.Get("/sso/callback?code=" + url.QueryEscape(evil)),
		b.Do(http.MethodGet, "/nothing", nil, http.Header{"X-Request-Id": {evil}, "Referer": {evil}}),
	} {
		if strings.Contains(page.Body, "<script") || strings.Contains(page.Body, "<img src=x") {
			t.Errorf("%d: %s", page.Status, page.Body)
		}
	}
	if page := b.Get("/items"); !strings.Contains(page.Body, "&lt;script&gt;") {
		t.Error("the test shows nothing")
	}
}

// Nor does an error's message, whoever has written it.
func TestRequests_AnErrorsMessageIsText(t *testing.T) {
	t.Parallel()
	const evil = `"><script>alert(1)</script>`
	site := handlertest.Start(t, fixture.With(func(r server.Routes) {
		r.Public.GET("/refused", func(c echo.Context) error {
			return echo.NewHTTPError(http.StatusBadRequest, "no such "+c.QueryParam("q"))
		})
		r.Public.GET("/problem", func(c echo.Context) error {
			return &web.Problem{Status: http.StatusConflict, Title: c.QueryParam("q"), Message: c.QueryParam("q"), Action: web.Action{Label: c.QueryParam("q"), URL: "javascript:" + c.QueryParam("q")}}
		})
	}), handlertest.Setup{})
	for _, path := range []string{"/refused", "/problem"} {
		page := site.Browser(t).Get(path + "?q=" + url.QueryEscape(evil))
		if !strings.Contains(page.Body, "&lt;script&gt;") || strings.Contains(page.Body, "<script") || strings.Contains(page.Body, `href="javascript:`) {
			t.Errorf("%s: %d %s", path, page.Status, page.Body)
		}
		api := site.Browser(t).Do(http.MethodGet, path+"?q="+url.QueryEscape(evil), nil, http.Header{"Accept": {"application/json"}})
		if strings.Contains(api.Body, "<script") || api.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s as JSON: %s", path, api.Body)
		}
	}
}

// Pages run nothing: the policy forbids it, and they do not try.
func TestRequests_PagesHaveNoInlineCode(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	inline := regexp.MustCompile(`(?i)<script|<style|\sstyle=|\son[a-z]+=|javascript:|<iframe|<object|<embed`)
	for _, page := range []handlertest.Answer{b.Get("/"), b.Get("/items"), b.Get("/sessions"), b.Get("/nothing"), site.Browser(t).Get("/"), b.Get("/sso/callback")} {
		if found := inline.FindString(page.Body); found != "" {
			t.Errorf("%q in %s", found, page.Body)
		}
	}
}

// The form of an error follows what was asked, never what was sent: a browser
// is not shown JSON as a page, nor a program a page.
func TestRequests_ErrorsInTheFormThatWasAskedFor(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	for _, c := range []struct{ path, accept, want string }{
		{"/sso/callback", "text/html", "text/html"}, {"/sso/callback", "", "text/html"}, {"/sso/callback", "text/html, application/json", "text/html"},
		{"/sso/callback", "application/json", "application/problem+json"}, {"/sso/callback", "application/problem+json;q=0.1", "application/problem+json"},
		{"/api/me", "text/html", "application/problem+json"}, {"/sso/callback", strings.Repeat("a/b,", 5000), "text/html"}, {"/sso/callback", "\"><script>", "text/html"},
	} {
		answer := site.Browser(t).Do(http.MethodGet, c.path, nil, http.Header{"Accept": {c.accept}})
		if got := answer.Header.Get("Content-Type"); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s with %.30q: %s, want %s", c.path, c.accept, got, c.want)
		}
	}
}

// What a client sends cannot make a log line of its own, nor change one.
func TestRequests_NobodyWritesTheLog(t *testing.T) {
	t.Parallel()
	var log handlertest.Log
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Log: &log})
	const forged = "\n{\"msg\":\"forged\",\"level\":\"ERROR\"}\n\x1b[31m"
	b := site.Browser(t)
	b.Do(http.MethodGet, "/"+url.PathEscape(forged), nil, http.Header{"X-Request-Id": {"forged forged forged"}, "User-Agent": {"forged"}})
	b.Do("FORGED", "/nothing", nil, nil)
	b.Do(http.MethodGet, "/", nil, http.Header{"X-Request-Id": {strings.Repeat("f", 5000)}})
	handlertest.Await(t, "the requests are logged", func() bool { return strings.Count(log.String(), `"msg":"request"`) >= 3 })
	for line := range strings.Lines(log.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("no JSON: %q", line)
		}
		if id, _ := entry["request_id"].(string); entry["msg"] == "forged" || strings.Contains(id, "forged") || len(id) > 64 || strings.Contains(line, "\x1b") {
			t.Errorf("forged: %s", line)
		}
	}
}

// A request's id is a trusted proxy's word, or ours.
func TestRequests_OnlyTrustedProxiesNameARequest(t *testing.T) {
	t.Parallel()
	for trusted, want := range map[string]bool{"": false, "10.0.0.0/8": false, "127.0.0.1": true} {
		site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: map[string]string{"TRUSTED_PROXIES": trusted}})
		answer := site.Browser(t).Do(http.MethodGet, "/nothing", nil, http.Header{"X-Request-Id": {"somebody-elses"}, "X-Forwarded-For": {"127.0.0.1"}})
		id := answer.Header.Get("X-Request-Id")
		if got := id == "somebody-elses"; got != want || len(id) < 8 || strings.Contains(answer.Body, "somebody-elses") != want {
			t.Errorf("trusted %q: the id is %q", trusted, id)
		}
	}
}

// A header's line cannot be ended from inside.
func TestRequests_AnswersCannotBeSplit(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	for _, path := range []string{
		"/login?return_to=/%0d%0aSet-Cookie:%20evil=1", "/items?x=%0d%0aSet-Cookie:%20evil=1", "/%0d%0aSet-Cookie:%20evil=1", "/login?return_to=%E5%98%8A%E5%98%8DSet-Cookie:evil=1",
	} {
		answer := site.Browser(t).Do(http.MethodGet, path, nil, http.Header{"X-Request-Id": {"abcdefgh"}})
		if answer.Cookie("evil") != nil || strings.ContainsAny(answer.Location(), "\r\n") {
			t.Errorf("%s: %v", path, answer.Header)
		}
	}
}

// Many and huge cookies are refused or ignored, and cost no query.
func TestRequests_CookieBombs(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	good := site.SignIn(t, "acme").Token()
	for name, cookie := range map[string]string{
		"many": strings.Repeat("a=b; ", 2000), "many sessions": strings.Repeat("session=x; ", 2000), "huge": "session=" + strings.Repeat("x", 200<<10),
		"ours behind a tossed one": "session=tossed; session=" + good, "broken": `session="; ; =; session`, "quoted": `session="` + strings.Repeat("q", 43) + `"`,
	} {
		began := time.Now()
		answer := site.Browser(t).Do(http.MethodGet, "/api/me", nil, http.Header{"Cookie": {cookie}})
		if answer.Status != http.StatusUnauthorized && answer.Status != http.StatusRequestHeaderFieldsTooLarge || time.Since(began) > 2*time.Second {
			t.Errorf("%s: %d after %v", name, answer.Status, time.Since(began))
		}
	}
}

func TestRequests_BodiesAreLimited(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	big := strings.Repeat("x", 2<<20)
	for name, c := range map[string]struct{ path, contentType, body string }{
		"JSON": {"/api/items", "application/json", `{"label":"` + big + `"}`}, "form": {"/items", "application/x-www-form-urlencoded", "label=" + big},
		"multipart": {"/items", "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"label\"\r\n\r\n" + big + "\r\n--b--"},
	} {
		for length, body := range map[string]io.Reader{
			"of known length": strings.NewReader(c.body), "chunked": io.MultiReader(strings.NewReader(c.body)), // which hides the length
		} {
			if answer := b.Do(http.MethodPost, c.path, body, http.Header{"Content-Type": {c.contentType}}); answer.Status != http.StatusRequestEntityTooLarge {
				t.Errorf("%s, %s: %d, want 413", name, length, answer.Status)
			}
		}
	}
	for name, body := range map[string]string{
		"deep": strings.Repeat(`{"label":`, 20_000), "not JSON": "label=x", "two documents": `{"label":"a"}{"label":"b"}`, "an array": `["a"]`, "a number": `{"label":7}`, "null": `null`,
	} {
		if answer := b.API(http.MethodPost, "/api/items", body); answer.Status/100 == 5 || strings.Contains(answer.Body, "offset") || strings.Contains(answer.Body, "unmarshal") {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
	if answer := b.Do(http.MethodPost, "/api/items", strings.NewReader(`{"label":"x"}`), http.Header{"Content-Type": {"text/plain"}}); answer.Status != http.StatusUnsupportedMediaType {
		t.Errorf("JSON as text, which a foreign form may send: %d, want 415", answer.Status)
	}
}

// Whatever a handler fails with, nobody outside reads it.
func TestRequests_ErrorsSayNothing(t *testing.T) {
	t.Parallel()
	const inside = "password=hunter2 at 10.0.0.5"
	site := handlertest.Start(t, fixture.With(func(r server.Routes) {
		r.User.GET("/api/fail", func(echo.Context) error { return fmt.Errorf("dial: %s", inside) })
		r.User.GET("/api/panic", func(echo.Context) error { panic(inside) })
		r.User.GET("/api/odd", func(echo.Context) error { panic(struct{ s []string }{[]string{inside}}) })
		r.User.GET("/api/echo", func(echo.Context) error { return echo.NewHTTPError(http.StatusInternalServerError, inside) })
		r.User.GET("/fail", func(echo.Context) error { return fmt.Errorf("dial: %s", inside) })
		r.User.GET("/template", func(c echo.Context) error { return c.Render(http.StatusOK, "items.html", inside) })
	}), handlertest.Setup{})
	b := site.SignIn(t, "acme")
	for _, path := range []string{"/api/fail", "/api/panic", "/api/odd", "/api/echo", "/fail", "/template"} {
		if answer := b.Get(path); answer.Status != http.StatusInternalServerError || strings.Contains(answer.Body, "hunter2") || strings.Contains(answer.Body, ".go") {
			t.Errorf("%s: %d %s", path, answer.Status, answer.Body)
		}
	}
}

// Two header lines of one name, a target with another server's name, a request
// without Host: the raw forms that clients' libraries do not send.
func TestRequests_RawRequests(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	address := strings.TrimPrefix(site.URL, "http://")
	for raw, want := range map[string][]string{
		"GET http://evil.example/items HTTP/1.1\r\nHost: evil.example\r\n\r\n":          {"303", "return_to=%2Fitems"},
		"GET //evil.example/items HTTP/1.1\r\nHost: x\r\n\r\n":                          {"HTTP/1.1"},
		"GET /items HTTP/1.1\r\n\r\n":                                                   {"400"},
		"GET /items HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n":                             {"400"},
		"GET /items HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n":                       {"400"},
		"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n":               {"40"},
		"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n":                                         {"HTTP/1.1"},
		"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n":                                         {"400"},
		"GET /items HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n": {"303"},
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                                              {},
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, raw)
		_ = conn.(*net.TCPConn).CloseWrite()
		answer, _ := io.ReadAll(conn)
		conn.Close()
		head, _, _ := strings.Cut(string(answer), "\r\n\r\n")
		if slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(head, w) }) || strings.Contains(head, "Location: //") || strings.Contains(head, "evil.example\r\n") {
			t.Errorf("%q gave\n%s", raw, head)
		}
	}
}
