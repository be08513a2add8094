package conformance_test

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/conformance"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/tenancy/commands/flags"
)

// environment is what the sites of handlertest are registered with.
func environment(name string) (string, bool) {
	v, ok := map[string]string{
		"APP_SLUG": fixture.Slug, "PLATFORM_API_KEY": handlertest.APIKey, "WEBHOOK_SECRET": handlertest.WebhookSecret,
	}[name]
	return v, ok
}

// listen opens the address that the platform will be played on.
func listen(t *testing.T) (l net.Listener, url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l, "http://" + l.Addr().String()
}

// pointedAt are the settings of a site whose platform is elsewhere.
func pointedAt(platform string) map[string]string {
	return map[string]string{"PLATFORM_URL": platform, "PLATFORM_BASE_URL": platform, "LOGIN_RATE_LIMIT": "20"} // the default
}

// judged is a run's outcome.
type judged struct {
	results []conformance.Result
	err     error
}

// verdicts lists the rules with that verdict.
func (j judged) verdicts(verdict string) (rules []string) {
	for _, r := range j.results {
		if r.Verdict == verdict {
			rules = append(rules, r.Rule)
		}
	}
	return rules
}

// isolation are the flags for what the fixture keeps for a tenant.
var isolation = []string{"--write-path", "/api/items", "--write-body", `{"label":"%s"}`, "--read-path", "/api/items"}

// judge holds a target against the contract, without the test's help.
func judge(t *testing.T, l net.Listener, target string, more ...string) (j judged) {
	t.Helper()
	return judgeBy(t, l, append(append([]string{"--target", target}, isolation...), more...)...)
}

// judgeBy judges by these flags alone.
func judgeBy(t *testing.T, l net.Listener, args ...string) (j judged) {
	t.Helper()
	var out strings.Builder
	j.err = conformance.RunOn(t.Context(), append([]string{"--json"}, args...), environment, l, &out)
	if err := json.Unmarshal([]byte(out.String()), &j.results); err != nil {
		t.Errorf("%v, %v in %q", j.err, err, out.String())
	}
	for _, secret := range []string{handlertest.APIKey, handlertest.WebhookSecret, "sso_"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("the report shows a secret or a code: %s", out.String())
		}
	}
	return j
}

// Our own server keeps every rule, also the second time on the same database.
func TestConformance_OurServerKeepsTheContract(t *testing.T) {
	t.Parallel()
	l, platform := listen(t)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: pointedAt(platform)})
	for range 2 {
		j := judge(t, l, site.URL)
		for _, r := range j.results {
			if r.Verdict != conformance.Pass {
				t.Errorf("%s: %s, %s", r.Rule, r.Verdict, r.Seen)
			}
		}
		if j.err != nil || len(j.results) < 30 {
			t.Errorf("%d results, %v", len(j.results), j.err)
		}
		if n := handlertest.Query[int](t, site, `SELECT count(*) FROM public.tenants WHERE status = 'active'`); n != 0 {
			t.Errorf("%d tenants were left active", n)
		}
		var err error
		if l, err = net.Listen("tcp", l.Addr().String()); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
}

// A product without notes is asked what it keeps, and has broken nothing; one that
// names what is not there has named the wrong path.
func TestConformance_AProductWithoutNotesIsNotJudgedByThem(t *testing.T) {
	t.Parallel()
	for want, more := range map[string][]string{conformance.Skip: nil, conformance.Fail: {"--write-path", "/api/notes"}} {
		l, platform := listen(t)
		site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Env: pointedAt(platform)})
		j := judgeBy(t, l, append([]string{"--target", site.URL}, more...)...)
		if got := j.verdicts(want); !slices.Equal(got, []string{"tenants-data"}) || (j.err == nil) != (want == conformance.Skip) {
			t.Errorf("%s: %v, %v", want, got, j.err)
		}
	}
}

func TestConformance_TargetThatIsNotThere(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	l, _ := listen(t)
	l.Close()
	err := conformance.Run(t.Context(), []string{"--target", "http://" + l.Addr().String(), "--platform-addr", "127.0.0.1:0"}, environment, &out)
	if err == nil || errors.Is(err, flags.ErrUsage) || errors.Is(err, conformance.ErrBroken) || !strings.Contains(err.Error(), "PLATFORM_BASE_URL=http://127.0.0.1:") {
		t.Errorf("nothing at the target: %v", err)
	}
}

func TestConformance_WrongCallNamesEverything(t *testing.T) {
	t.Parallel()
	nothing := func(string) (string, bool) { return "", false }
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"--target", "--platform-addr", "APP_SLUG", "PLATFORM_API_KEY", "WEBHOOK_SECRET_FILE"}},
		{[]string{"--target", "127.0.0.1:8080", "--write-body", "{}", "--login-path", "login", "more"}, []string{"127.0.0.1:8080", "%s in", "--login-path", "more"}},
		{[]string{"--nonsense"}, []string{"nonsense"}},
		{[]string{"--skip", "health,wealth"}, []string{"wealth"}},
	} {
		err := conformance.Run(t.Context(), c.args, nothing, new(strings.Builder))
		if !errors.Is(err, flags.ErrUsage) {
			t.Fatalf("%q: %v", c.args, err)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: no %s in: %v", c.args, want, err)
			}
		}
	}
	var out strings.Builder
	if err := conformance.Run(t.Context(), []string{"--help"}, nothing, &out); err != nil || !strings.Contains(out.String(), "-session-path") {
		t.Errorf("help: %v, %s", err, out.String())
	}
}

func TestConformance_ReadmeHasEveryRule(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), conformance.RuleTable()) {
		t.Errorf("the README's table is to be:\n%s", conformance.RuleTable())
	}
	needs := conformance.Needs()
	for id, needed := range needs {
		for _, n := range strings.Fields(needed) {
			if _, known := needs[n]; !known {
				t.Errorf("%s needs %s, which is no rule", id, n)
			}
		}
	}
}
