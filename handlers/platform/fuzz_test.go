package platform

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var fields = []string{"tenantSlug", "data.tenantSlug", "tenant.slug", "data.tenant.slug", "slug", "data.slug"}

// Nothing but the one true signature of exactly these bytes is accepted, in any
// spelling.
func FuzzVerify(f *testing.F) {
	body := []byte(`{"eventType":"subscription.created"}`)
	good := Sign("secret", body)
	for _, seed := range []string{
		good, strings.ToUpper(good), good + " ", " " + good, good[:63], good + "00", "sha256=" + good, "0x" + good, "", strings.Repeat("0", 64),
		good + "," + good, good + "\x00", strings.Replace(good, "a", "А", 1),
	} {
		f.Add(seed, body)
	}
	f.Add(Sign("", body), body)
	f.Add(good, []byte{})
	f.Fuzz(func(t *testing.T, signature string, body []byte) {
		want := Sign("secret", body)
		if got := Verify("secret", body, signature); got != (signature == want) {
			t.Fatalf("Verify(%q) = %v, and the signature is %q", signature, got, want)
		}
		if Verify("", body, signature) || Verify("", body, Sign("", body)) {
			t.Fatal("an empty secret verified something")
		}
		if len(want) != 64 || strings.Trim(want, "0123456789abcdef") != "" {
			t.Fatalf("the signature is %q", want)
		}
	})
}

// An event is a JSON object with a usable type, and its tenant is text; nothing
// makes the parser fail in another way.
func FuzzParseEnvelope(f *testing.F) {
	for _, seed := range []string{
		`{"eventType":"subscription.created","data":{"tenantSlug":"acme"}}`, `{"eventType":"tenant.cancelled","tenant":{"slug":"acme"}}`,
		`{"eventType":"x","tenantSlug":null,"slug":7}`, `{"eventType":"x","eventType":"y"}`, `{"EventType":"x"}`, `{"eventType":""}`, `{"eventType":{}}`,
		`[]`, `null`, `"x"`, ``, `{`, "\xef\xbb\xbf{}", `{"eventType":"x"}{"eventType":"y"}`, `{"eventType":"\ud800"}`, `{"eventType":"a\u0000b"}`,
		strings.Repeat(`{"data":`, 40), `{"eventType":"x","data":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`,
		`{"eventType":"x","data":{"data":{"data":{}}},"tenant":[{"slug":"a"}]}`, `{"eventType":"x","tenantSlug":"a\"; DROP SCHEMA public; --"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := ParseEnvelope(body, fields)
		if err != nil {
			if e != (Envelope{}) {
				t.Fatalf("an error and %+v", e)
			}
			return
		}
		if !json.Valid(body) || e.Type == "" || len(e.Type) > maxEventType || strings.IndexFunc(e.Type, unicode.IsControl) >= 0 || !utf8.ValidString(e.Type) {
			t.Fatalf("%q gave %+v", body, e)
		}
		again, err := ParseEnvelope(body, fields)
		if err != nil || again != e {
			t.Fatalf("%q gave %+v and then %+v, %v", body, e, again, err)
		}
	})
}

// Who is let in has an id, a tenant and a status, all of them clean text.
func FuzzParseUserInfo(f *testing.F) {
	for _, seed := range []string{
		`{"userId":"u","email":"a@b","tenantSlug":"acme","planType":"Pro","subscriptionStatus":"Active","tenantStatus":"Active"}`,
		`{"userId":1,"tenantSlug":"acme","subscriptionStatus":"Active"}`, `{"userId":"u","tenantSlug":"","subscriptionStatus":"Active"}`,
		`{"userId":"u","tenantSlug":"acme","subscriptionStatus":null}`, `{"userid":"u","TENANTSLUG":"acme","subscriptionStatus":"Active"}`,
		`{"userId":"u","userId":"v","tenantSlug":"acme","subscriptionStatus":"Active","tenantStatus":false}`, `{"userId":"\ud800","tenantSlug":"a","subscriptionStatus":"x"}`,
		`{"userId":"a\nb","tenantSlug":"a","subscriptionStatus":"x"}`, `null`, `[]`, `7`, ``, `{"userId":["u"]}`, strings.Repeat("[", 100),
	} {
		f.Add([]byte(seed), "tenantStatus")
	}
	f.Add([]byte(`{"userId":"u","tenantSlug":"a","subscriptionStatus":"x"}`), "")
	f.Fuzz(func(t *testing.T, body []byte, statusField string) {
		u, err := parseUserInfo(body, statusField)
		if err != nil {
			return
		}
		if u.UserID == "" || u.TenantSlug == "" || u.SubscriptionStatus == "" || !json.Valid(body) {
			t.Fatalf("%q gave %+v", body, u)
		}
		for _, s := range []string{u.UserID, u.Email, u.TenantSlug, u.PlanType, u.SubscriptionStatus} {
			if len(s) > 512 || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
				t.Fatalf("%q gave %+v", body, u)
			}
		}
	})
}
