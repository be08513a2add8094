package simulator

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func (d *harness) ssoURL(redirect string) string {
	return d.url + "/auth/sso?" + url.Values{"appSlug": {"notes"}, "redirect": {redirect}}.Encode()
}

func TestSimulator_BrowserSignsInAndComesBackWithACode(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	b := browser(t)
	callback := d.product.url + "/sso/callback?theme=dark&x=a%20b"

	page, text := get(t, b, d.ssoURL(callback))
	if page.StatusCode != http.StatusOK || !strings.Contains(text, "ada@acme.example") {
		t.Fatalf("sign-in page: %d\n%s", page.StatusCode, text)
	}
	back, _ := post(t, b, d.ssoURL(callback), url.Values{"user": {"ada"}})
	prefix := callback + "&code="
	code, ok := strings.CutPrefix(back.Header.Get("Location"), prefix)
	if back.StatusCode != http.StatusSeeOther || !ok {
		t.Fatalf("after the choice: %d to %q, want %q…", back.StatusCode, back.Header.Get("Location"), prefix)
	}
	if user, err := d.client().Exchange(t.Context(), code); err != nil || user.UserID != "ada" {
		t.Errorf("exchange = %+v, %v", user, err)
	}

	again, _ := get(t, b, d.ssoURL(d.product.url+"/sso/callback"))
	if again.StatusCode != http.StatusSeeOther || !strings.HasPrefix(again.Header.Get("Location"), d.product.url+"/sso/callback?code=") {
		t.Errorf("signed in already: %d to %q, want straight back", again.StatusCode, again.Header.Get("Location"))
	}
}

func TestSimulator_BadSignInRequestsAreExplained(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	good := url.QueryEscape(d.product.url + "/sso/callback")
	for name, c := range map[string]struct{ query, says string }{
		"no slug":          {"redirect=" + good, "parameter appSlug"},
		"another slug":     {"appSlug=other&redirect=" + good, "other"},
		"no redirect":      {"appSlug=notes", "parameter redirect"},
		"relative":         {"appSlug=notes&redirect=/sso/callback", "absolute"},
		"another scheme":   {"appSlug=notes&redirect=javascript:alert(1)", "absolute"},
		"another host":     {"appSlug=notes&redirect=http://evil.example/", "callback address"},
		"another port":     {"appSlug=notes&redirect=http://127.0.0.1:1/sso/callback", "callback address"},
		"host with prefix": {"appSlug=notes&redirect=" + url.QueryEscape(d.product.url+".evil.example/"), "Redirect"},
		"user information": {"appSlug=notes&redirect=" + url.QueryEscape(strings.Replace(d.product.url, "://", "://x@", 1)), "absolute"},
		"a code already":   {"appSlug=notes&redirect=" + good + "%3Fcode%3Dmine", "code already"},
	} {
		page, text := get(t, browser(t), d.url+"/auth/sso?"+c.query)
		if page.StatusCode != http.StatusBadRequest || !strings.Contains(text, c.says) || page.Header.Get("Location") != "" {
			t.Errorf("%s: %d, want 400 with %q\n%s", name, page.StatusCode, c.says, text)
		}
	}
}

func TestSimulator_RedirectHasTheCallbacksOrigin(t *testing.T) {
	t.Parallel()
	d := newHarness(t, func(o *Options) { o.Product.CallbackURL = "https://product.example/sso/callback" })
	for redirect, want := range map[string]int{
		"https://product.example/elsewhere":    http.StatusOK,
		"https://PRODUCT.example/":             http.StatusOK,
		"http://product.example/sso/callback":  http.StatusBadRequest,
		"https://product.example.evil/":        http.StatusBadRequest,
		"https://product.example:444/":         http.StatusBadRequest,
		"https://product.example@evil.example": http.StatusBadRequest,
	} {
		if page, _ := get(t, browser(t), d.ssoURL(redirect)); page.StatusCode != want {
			t.Errorf("redirect %s: %d, want %d", redirect, page.StatusCode, want)
		}
	}
}

func TestSimulator_AnotherSiteCannotChooseTheUser(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	status, _ := call(t, "POST", d.ssoURL(d.product.url+"/sso/callback"), "user=ada",
		"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example")
	if status != http.StatusForbidden {
		t.Errorf("status %d, want 403", status)
	}
}
