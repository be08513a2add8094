package simulator

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// step posts one step of the sign-in page.
func (d *harness) step(t *testing.T, b *http.Client, form url.Values) (*http.Response, string) {
	t.Helper()
	return post(t, b, d.ssoURL(d.product.url+"/sso/callback"), form)
}

var (
	shownCode  = regexp.MustCompile(`class="digits">(\d{6})<`)
	shownToken = regexp.MustCompile(`name="mfaToken" value="(\w+)"`)
)

func submatch(t *testing.T, pattern *regexp.Regexp, text string) string {
	t.Helper()
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%s is not in\n%s", pattern, text)
	}
	return m[1]
}

func TestSimulator_SigningInByPhoneAndSecondFactor(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	if _, err := d.SaveUser(User{ID: "ada", Email: "ada@acme.example", Tenant: "acme", Phone: "+1 555 0100", MFA: true}); err != nil {
		t.Fatal(err)
	}
	b := browser(t)

	_, text := d.step(t, b, url.Values{"phone": {" +1 555 0100 "}})
	code := submatch(t, shownCode, text)
	if page, text := d.step(t, b, url.Values{"phone": {"+1 555 0100"}, "code": {"wrong"}}); page.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, code) {
		t.Errorf("a wrong code: %d, want to be asked again with the message still shown", page.StatusCode)
	}
	page, text := d.step(t, b, url.Values{"phone": {"+1 555 0100"}, "code": {code}})
	if page.StatusCode != http.StatusOK || len(d.sessions) != 0 {
		t.Fatalf("after the first factor: %d and %d sessions, want the second asked and none", page.StatusCode, len(d.sessions))
	}
	token := submatch(t, shownToken, text)
	if page, _ := d.step(t, b, url.Values{"mfaToken": {token}, "code": {"000"}}); page.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a wrong second factor: %d, want 422", page.StatusCode)
	}
	back, _ := d.step(t, b, url.Values{"mfaToken": {token}, "code": {submatch(t, shownCode, text)}})
	if back.StatusCode != http.StatusSeeOther || !strings.Contains(back.Header.Get("Location"), "?code=sso_") {
		t.Fatalf("after the second factor: %d to %q", back.StatusCode, back.Header.Get("Location"))
	}
	if page, _ := d.step(t, browser(t), url.Values{"mfaToken": {token}, "code": {submatch(t, shownCode, text)}}); page.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("the mfaToken a second time: %d, want 422", page.StatusCode)
	}
}

func TestSimulator_ChoosingAUserWithASecondFactorAsksForIt(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.AddTenant("globex", "Globex", "pro", User{ID: "gil", Email: "gil@globex.example", MFA: true, MFASecret: newSecret()})
	page, text := d.step(t, browser(t), url.Values{"user": {"gil"}})
	if page.StatusCode != http.StatusOK || shownToken.FindString(text) == "" || len(page.Cookies()) != 0 {
		t.Errorf("%d with cookies %v, want the second factor asked first", page.StatusCode, page.Cookies())
	}
}

func TestSimulator_PhoneOfNobodyGetsNoCode(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	for _, phone := range []string{"", "+1 555 0199"} {
		if page, text := d.step(t, browser(t), url.Values{"phone": {phone}}); page.StatusCode != http.StatusUnprocessableEntity || shownCode.MatchString(text) {
			t.Errorf("phone %q: %d, want 422 and no code", phone, page.StatusCode)
		}
	}
}

func TestSimulator_TextMessagesCodeCannotBeGuessed(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	if _, err := d.SaveUser(User{ID: "ada", Email: "ada@acme.example", Tenant: "acme", Phone: "1"}); err != nil {
		t.Fatal(err)
	}
	code, err := d.sendText("1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.checkText("1", code); err != nil {
		t.Fatal(err)
	}
	if _, err := d.checkText("1", code); err == nil {
		t.Error("a code was accepted twice")
	}
	if code, err = d.sendText("1"); err != nil {
		t.Fatal(err)
	}
	for range textTries {
		if _, err := d.checkText("1", "no"); err == nil {
			t.Fatal("a wrong code was accepted")
		}
	}
	if _, err := d.checkText("1", code); err == nil {
		t.Error("the right code is accepted after too many wrong ones")
	}
}

func TestSimulator_SigningOutOfThePlatform(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	b := browser(t)
	d.step(t, b, url.Values{"user": {"ada"}})
	sso := d.ssoURL(d.product.url + "/sso/callback")
	if page, _ := get(t, b, sso); page.StatusCode != http.StatusSeeOther {
		t.Fatalf("signed in: %d, want straight back", page.StatusCode)
	}
	post(t, b, d.url+"/_sim/sign-out", nil)
	if page, _ := get(t, b, sso); page.StatusCode != http.StatusOK {
		t.Errorf("signed out: %d, want the sign-in page", page.StatusCode)
	}
	if d.mu.Lock(); len(d.sessions) != 0 {
		t.Error("the session outlives its cookie")
	}
	d.mu.Unlock()
}

func TestSimulator_SessionEnds(t *testing.T) {
	t.Parallel()
	d := newHarness(t, nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	token := newSession(d.sessions, "ada", -time.Second)
	if d.holder(d.sessions, token) != nil {
		t.Error("an old token is still good")
	}
	newSession(d.sessions, "ada", time.Hour)
	if len(d.sessions) != 1 {
		t.Errorf("%d sessions, want the old one forgotten", len(d.sessions))
	}
}
