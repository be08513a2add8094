package doctor_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server/doctor"
)

// stranger is a server that is not the one that is meant.
func stranger(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

// nobody is an address where nobody listens.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

func TestDoctor_ThePlatform(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	p := healthy(site)
	at := func(offset time.Duration) string {
		return stranger(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", time.Now().Add(offset).UTC().Format(http.TimeFormat))
		})
	}
	unwell := stranger(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	hangs := stranger(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for _, c := range []struct{ setting, value, check, status, says, fix string }{
		{"PLATFORM_BASE_URL", nobody(t), "platform", doctor.Failure, "cannot reach it", "correct PLATFORM_BASE_URL"},
		{"PLATFORM_URL", nobody(t), "sign-in page", doctor.Failure, "cannot reach it", "correct PLATFORM_URL"},
		{"PLATFORM_BASE_URL", hangs, "platform", doctor.Failure, "deadline exceeded", "correct PLATFORM_BASE_URL"},
		{"PLATFORM_BASE_URL", unwell, "platform", doctor.Warning, "502", "operators"},
		{"PLATFORM_URL", unwell, "sign-in page", doctor.Warning, "502", "registered"},
		{"APP_SLUG", "another", "sign-in page", doctor.Warning, "is answered 4", "compare PLATFORM_URL, APP_SLUG"},
		{"PLATFORM_BASE_URL", at(30 * time.Second), "platform", doctor.Warning, "ahead", "NTP"},
		{"PLATFORM_BASE_URL", at(-30 * time.Second), "platform", doctor.Warning, "behind", "NTP"},
		{"PLATFORM_BASE_URL", at(time.Hour), "platform", doctor.Failure, "ahead", "NTP"},
		{"PLATFORM_URL", at(-time.Hour), "sign-in page", doctor.Failure, "behind", "NTP"},
	} {
		t.Run(c.check+" "+c.says, func(t *testing.T) {
			t.Parallel()
			p.want(t, c.check, doctor.OK, "it answers, and its clock", "")
			p.with(c.setting, c.value).want(t, c.check, c.status, c.says, c.fix)
		})
	}
}

func TestDoctor_TheAddressesOfThisProduct(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	p := healthy(site)
	another := stranger(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("welcome")) })
	redirects := stranger(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, site.URL+r.URL.Path, http.StatusFound)
	})
	for _, check := range []string{"health address", "callback address", "webhook address"} {
		p.want(t, check, doctor.OK, "", "")
		p.with("PUBLIC_URL", nobody(t)).want(t, check, doctor.Failure, "cannot be reached", "start the server")
		p.with("PUBLIC_URL", another).want(t, check, doctor.Failure, "this product", "have PUBLIC_URL")
		p.with("PUBLIC_URL", redirects).want(t, check, doctor.Failure, "redirects (302) to "+site.URL, "set PUBLIC_URL")
	}
	p.with("WEBHOOK_SECRET", "another-secret-of-the-tests").want(t, "webhook address", doctor.Failure, "is answered 401", "restart the server")
}
