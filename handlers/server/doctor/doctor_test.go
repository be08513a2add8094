package doctor_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/handlers/server/doctor"
	"example.com/subproduct/tenancy/commands/flags"
)

// patient is what a doctor looks at: a product and its environment.
type patient struct {
	product func() server.Product // a new one for each look: it keeps its settings
	env     map[string]string
}

// healthy is the patient of a running site.
func healthy(site *handlertest.Site) patient {
	return patient{fixture.Product, map[string]string{
		"DATABASE_URL": site.Database, "APP_SLUG": fixture.Slug, "PUBLIC_URL": site.URL, "FIXTURE_GREETING": "Hello",
		"PLATFORM_URL": site.Config.PlatformURL.String(), "PLATFORM_BASE_URL": site.Config.PlatformBaseURL.String(),
		"PLATFORM_API_KEY": handlertest.APIKey, "WEBHOOK_SECRET": handlertest.WebhookSecret,
	}}
}

// with is the patient with other settings, names and values in turn; an empty
// one is not set.
func (p patient) with(settings ...string) patient {
	p.env = maps.Clone(p.env)
	for i := 0; i < len(settings); i += 2 {
		p.env[settings[i]] = settings[i+1]
	}
	return p
}

// examine runs the command and returns what it printed.
func (p patient) examine(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	c := server.CLI{Product: p.product(), Stdout: &out, Env: func(name string) (string, bool) { v, ok := p.env[name]; return v, ok }}
	began := time.Now()
	err := c.Doctor(t.Context(), args)
	if took := time.Since(began); took > 12*time.Second {
		t.Errorf("it took %v", took)
	}
	for name, secret := range map[string]string{"PLATFORM_API_KEY": p.env["PLATFORM_API_KEY"], "WEBHOOK_SECRET": p.env["WEBHOOK_SECRET"], "password": "hunter2"} {
		if len(secret) > 1 && secret != "change-me" && strings.Contains(out.String(), secret) {
			t.Errorf("%s is shown in\n%s", name, out.String())
		}
	}
	return out.String(), err
}

func (p patient) lines(t *testing.T) ([]doctor.Line, error) {
	t.Helper()
	printed, err := p.examine(t, "--json")
	var lines []doctor.Line
	if err := json.Unmarshal([]byte(printed), &lines); err != nil {
		t.Fatalf("%v in %s", err, printed)
	}
	return lines, err
}

// want wants a line, its status and words of what it says and of what to do,
// and the exit that goes with it.
func (p patient) want(t *testing.T, check, status, says, fix string) {
	t.Helper()
	lines, err := p.lines(t)
	failed, found := false, false
	for _, l := range lines {
		failed = failed || l.Status == doctor.Failure
		found = found || l.Check == check && l.Status == status && strings.Contains(l.Detail, says) && strings.Contains(l.Fix, fix)
		if (l.Status == doctor.OK) != (l.Fix == "") {
			t.Errorf("a line is fine, or says what to do: %+v", l)
		}
	}
	if !found {
		t.Errorf("no line %q, %s, that says %q and %q, in\n%+v", check, status, says, fix, lines)
	}
	if failed != errors.Is(err, doctor.ErrFailed) || errors.Is(err, flags.ErrUsage) {
		t.Errorf("it ends with %v", err)
	}
}

// A product that runs as it should has nothing but fine lines, always in the
// same order, one each.
func TestDoctor_AHealthyProduct(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	p := healthy(site)
	text, err := p.examine(t)
	if err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	want := []string{"settings", "server version", "read-only", "create schemas", "create in public", "foreign code", "pooler", "database clock",
		"schema", "events", "jobs", "platform", "sign-in page", "health address", "callback address", "webhook address"}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want), text)
	}
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, "ok  "); !ok || !strings.HasPrefix(rest, want[i]+"  ") {
			t.Errorf("line %d is %q, want an ok of %s", i, line, want[i])
		}
	}
	if n := handlertest.Query[int](t, site, `SELECT count(*) FROM public.webhook_events`); n != 1 {
		t.Errorf("%d events are stored, want the subscription's alone", n)
	}
	if asJSON, err := p.lines(t); err != nil || len(asJSON) != len(want) {
		t.Errorf("as JSON: %v, %v", asJSON, err)
	}
}

func TestDoctor_AWrongCall(t *testing.T) {
	t.Parallel()
	if _, err := (patient{product: fixture.Product}).examine(t, "now"); !errors.Is(err, flags.ErrUsage) {
		t.Errorf("%v", err)
	}
}

// Every wrong setting is a line, and what does not need it is checked.
func TestDoctor_Settings(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	p := healthy(site)
	for _, c := range []struct{ name, value, status, says, fix, notChecked string }{
		{"PLATFORM_API_KEY", "change-me", doctor.Failure, "PLATFORM_API_KEY is still the placeholder", ".env.example", ""},
		{"WEBHOOK_SECRET", "", doctor.Failure, "WEBHOOK_SECRET is not set", ".env.example", "webhook address"},
		{"PLATFORM_URL", "https://platform.example", doctor.Failure, "PLATFORM_URL is still the placeholder", "", "sign-in page"},
		{"PLATFORM_BASE_URL", "nowhere", doctor.Failure, "PLATFORM_BASE_URL must be", "", "platform"},
		{"PUBLIC_URL", "https://x.example/path", doctor.Failure, "PUBLIC_URL must have no path", "", "callback address"},
		{"DATABASE_URL", "mysql://me:hunter2@x/y", doctor.Failure, "DATABASE_URL must begin with postgres://", "", "schema"},
		{"FIXTURE_GREETING", "", doctor.Failure, "FIXTURE_GREETING is not set", "", ""},
		{"SESSION_LIFETIM", "1h", doctor.Warning, "is SESSION_LIFETIME meant?", "change it", ""},
		{"PLATFORM_API_KEY", "k3y", doctor.Warning, "PLATFORM_API_KEY is short", "change it", ""},
		{"PLATFORM_API_KEY", handlertest.WebhookSecret, doctor.Warning, "PLATFORM_API_KEY and WEBHOOK_SECRET are equal", "change it", ""},
		{"WEBHOOK_SECRET_PREVIOUS", handlertest.WebhookSecret, doctor.Warning, "WEBHOOK_SECRET and WEBHOOK_SECRET_PREVIOUS are equal", "change it", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ill := p.with(c.name, c.value)
			ill.want(t, "settings", c.status, c.says, c.fix)
			if c.notChecked != "" {
				ill.want(t, c.notChecked, doctor.Warning, "not checked: "+c.name+" is not usable", "repair that first")
			}
		})
	}
}
