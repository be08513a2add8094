package doctor_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/handlers/server/doctor"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// patient is what a doctor looks at: a product and its environment.
type patient struct {
	product server.Product
	env     map[string]string
}

// healthy is the patient of a running site.
func healthy(site *handlertest.Site) patient {
	return patient{fixture.Product(), map[string]string{
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
	c := server.CLI{Product: p.product, Stdout: &out, Env: func(name string) (string, bool) { v, ok := p.env[name]; return v, ok }}
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
	if failed != errors.Is(err, doctor.ErrFailed) || errors.Is(err, server.ErrUsage) {
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
		"schema", "events", "platform", "sign-in page", "health address", "callback address", "webhook address"}
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
	if _, err := (patient{}).examine(t, "now"); !errors.Is(err, server.ErrUsage) {
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

func TestDoctor_TheDatabaseItself(t *testing.T) {
	t.Parallel()
	pg := pgtest.NewServer(t)
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Database: pg.URL("postgres")})
	p := healthy(site)
	p.want(t, "server version", doctor.OK, "PostgreSQL", "")
	p.want(t, "database clock", doctor.OK, "agree", "")

	site.Exec(t, `CREATE ROLE poor LOGIN; GRANT USAGE ON SCHEMA public TO poor; GRANT SELECT ON ALL TABLES IN SCHEMA public TO poor`)
	address, err := url.Parse(site.Database)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.User("poor")
	p.with("DATABASE_URL", address.String()).want(t, "create schemas", doctor.Failure, "may not create schemas", "GRANT CREATE ON DATABASE postgres TO poor")

	through := pgtest.Pooler(t, site.Database)
	p.with("DATABASE_URL", through).want(t, "pooler", doctor.OK, "works", "")
	prepared := strings.Replace(through, "default_query_exec_mode=exec", "default_query_exec_mode=cache_statement", 1)
	p.with("DATABASE_URL", prepared).want(t, "pooler", doctor.Failure, "pooler", "default_query_exec_mode=exec")

	site.Exec(t, `ALTER DATABASE postgres SET default_transaction_read_only = on`)
	p.want(t, "read-only", doctor.Failure, "read-only", "DATABASE_URL")
	site.Exec(t, `BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT`)

	if err := pg.Halt(t.Context(), "immediate"); err != nil {
		t.Fatal(err)
	}
	p.want(t, "database", doctor.Failure, "cannot be asked", "start PostgreSQL")
	p.want(t, "events", doctor.Warning, "not checked: the database does not answer", "repair that first")
	handlertest.Await(t, "the site is unhealthy", func() bool {
		response, err := http.Get(site.URL + "/healthz")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusServiceUnavailable
	})
	p.want(t, "health address", doctor.Failure, `"unavailable" (503)`, "log")
	if err := pg.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestDoctor_SchemasAndDrift(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	p := healthy(site)
	p.want(t, "schema", doctor.OK, "tenants at version 1: 1", "")
	site.TenantExec(t, "acme", `ALTER TABLE items ADD COLUMN extra int`)
	p.want(t, "schema", doctor.Warning, "differences from a fresh schema: 1", "migrate --drift")

	next := p
	next.product = fixture.Migrating(fstest.MapFS{
		"000001_a.up.sql": {Data: []byte(`CREATE TABLE items (id bigint PRIMARY KEY)`)}, "000002_b.up.sql": {Data: []byte(`ALTER TABLE items ADD COLUMN extra int`)},
	})
	next.want(t, "schema", doctor.Warning, "behind: 1", "migrated when they are used")
	next.with("MIGRATE_ON_START", "false").want(t, "schema", doctor.Failure, "behind: 1", "run `migrate`")
	c := server.CLI{Product: next.product, Stdout: &strings.Builder{}, Env: func(name string) (string, bool) { v, ok := p.env[name]; return v, ok }}
	if err := c.Migrate(t.Context(), nil); err == nil {
		t.Fatal("the migration does not fail")
	}
	next.want(t, "schema", doctor.Failure, "failed to migrate: 1", "migrate --status")
	site.TenantExec(t, "acme", `ALTER TABLE items DROP COLUMN extra`)
	if err := c.Migrate(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	p.want(t, "schema", doctor.Warning, "ahead of this program: 1", "newer program")

	fresh := p.with("DATABASE_URL", pgtest.URL(t))
	fresh.want(t, "schema", doctor.Warning, "the shared schema is at version 0", "next start")
	fresh.with("MIGRATE_ON_START", "false").want(t, "schema", doctor.Failure, "the shared schema is at version 0", "run `migrate`")
}

func TestDoctor_Events(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	p := healthy(site)
	p.want(t, "events", doctor.OK, "pending: 0; failed: 0", "")
	site.Event(t, "item.suggested", "nobody", map[string]string{"label": "x"})
	p.want(t, "events", doctor.OK, "pending: 1; failed: 0; the oldest pending came", "")
	site.Exec(t, `UPDATE public.webhook_events SET received_at = now() - interval '1 hour' WHERE status = 'pending'`)
	p.want(t, "events", doctor.Warning, "the oldest pending came 1h0m", "events list --status pending")
	site.Event(t, "item.suggested", "acme", nil)
	p.want(t, "events", doctor.Warning, "failed: 1", "events retry --all-failed")
}

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
