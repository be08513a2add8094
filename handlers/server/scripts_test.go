package server_test

import (
	"strings"
	"testing"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/server"
)

// A product without Scripts allows none, one with it the files of this server.
func TestScripts_AreThoseOfStaticAlone(t *testing.T) {
	t.Parallel()
	for scripts, want := range map[bool]string{
		false: "",
		true:  "; script-src 'self'; connect-src 'self'",
	} {
		site := handlertest.Start(t, server.Product{Name: "Nothing", Slug: "nothing", Scripts: scripts}, handlertest.Setup{})
		for _, path := range []string{"/", "/login", "/api/me", "/healthz"} {
			policy := site.Browser(t).Get(path).Header.Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none'; ") || !strings.HasSuffix(policy, "frame-ancestors 'none'"+want) {
				t.Errorf("%s, with scripts %t: the policy is %q", path, scripts, policy)
			}
		}
	}
}
