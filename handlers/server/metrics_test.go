package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/dev/simulator"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// measured is a site with its metrics.
type measured struct {
	*handlertest.Site
	url string // of /metrics
}

// measure starts a site whose metrics are never older than a scrape.
func measure(t *testing.T, p server.Product, s handlertest.Setup) measured {
	t.Helper()
	var log handlertest.Log
	s.Env, s.Log = map[string]string{"METRICS_ADDR": "127.0.0.1:0"}, &log
	s.Serve = server.Options{Version: "v1.2.3", StatisticsAge: time.Nanosecond, LogDropped: func() int64 { return 3 }}
	site := handlertest.Start(t, p, s)
	for line := range strings.Lines(log.String()) {
		var said struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Msg == "metrics" {
			return measured{site, "http://" + said.Address + "/metrics"}
		}
	}
	t.Fatal("the log has no address of the metrics")
	return measured{}
}

// series are the values of one scrape, by name and labels.
type series map[string]float64

func (m measured) scrape(t *testing.T) series {
	t.Helper()
	found := series{}
	for line := range strings.Lines(m.text(t)) {
		at := strings.LastIndexByte(line, ' ')
		if value, err := strconv.ParseFloat(strings.TrimSpace(line[at+1:]), 64); err == nil && line[0] != '#' {
			found[line[:at]] = value
		}
	}
	return found
}

// text is a scrape as Prometheus gets it.
func (m measured) text(t *testing.T) string {
	t.Helper()
	began := time.Now()
	response, err := http.Get(m.url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%d %s, %v", response.StatusCode, body, err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("a scrape took %v", took)
	}
	return string(body)
}

// await scrapes until the condition holds.
func (m measured) await(t *testing.T, what string, condition func(series) bool) {
	t.Helper()
	handlertest.Await(t, what, func() bool { return condition(m.scrape(t)) })
}

// want scrapes until these have such values.
func (m measured) want(t *testing.T, want series) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for name, value := range want {
		for got, there := m.scrape(t)[name]; !there || got != value; got, there = m.scrape(t)[name] {
			if time.Now().After(deadline) {
				t.Fatalf("%s is %v, want %v (there: %v)", name, got, value, there)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// The product of these tests has a request and an event that fail or wait.
func troubled(hold chan struct{}) server.Product {
	p := fixture.With(func(r server.Routes) {
		r.User.GET("/api/hold", func(c echo.Context) error {
			return r.DB.InTx(c.Request().Context(), func(pgx.Tx) error { <-hold; return nil })
		})
	})
	p.Events["item.shaky"] = inbox.Handler{Apply: func(context.Context, pgx.Tx, inbox.Event) error { return errors.New("not today") }}
	return p
}

// Every metric is seen to change by what it is about.
func TestMetrics_ChangeByWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	postgres := pgtest.NewServer(t)
	m := measure(t, troubled(hold), handlertest.Setup{Database: postgres.URL("postgres")})
	seen := series{}
	steps := []func(*testing.T, measured){aboutRequests, aboutEvents, aboutJobs, aboutThePlatform, aboutTenants,
		func(t *testing.T, m measured) { aboutPools(t, m, hold) }, aboutLabels}
	for _, step := range steps {
		step(t, m)
		maps.Copy(seen, m.scrape(t))
	}
	aboutNames(t, seen)
	t.Run("names and help", func(t *testing.T) { promtool(t, m.text(t), "check", "metrics") })
	m.Exec(t, `ALTER SYSTEM SET default_transaction_read_only TO on`)
	m.Exec(t, `SELECT pg_reload_conf()`)
	m.want(t, series{`app_database_read_only`: 1})
	if err := postgres.Halt(t.Context(), "immediate"); err != nil {
		t.Fatal(err)
	}
	m.want(t, series{`app_database_up`: 0, `app_database_pool_connections{pool="probe",state="idle"}`: 0})
	for name := range m.scrape(t) {
		if strings.HasPrefix(name, "app_tenants") || strings.HasPrefix(name, "app_webhook_events") || name == "app_database_read_only" {
			t.Errorf("%s is told of a database that is down", name)
		}
	}
}

func aboutRequests(t *testing.T, m measured) {
	b := m.SignIn(t, "acme")
	b.Get("/items")
	b.Get("/nothing-4711")
	b.Post("/items/4711/delete", nil)
	b.Do(http.MethodDelete, "/items", nil, nil)
	b.Do("BREW", "/items", nil, nil)
	m.want(t, series{
		`app_http_request_duration_seconds_count{code="200",method="GET",route="/items"}`:              1,
		`app_http_request_duration_seconds_count{code="404",method="GET",route="/*"}`:                  1,
		`app_http_request_duration_seconds_count{code="404",method="POST",route="/items/:id/delete"}`:  1,
		`app_http_request_duration_seconds_count{code="405",method="DELETE",route="/*"}`:               1,
		`app_http_request_duration_seconds_count{code="405",method="other",route="/*"}`:                1,
		`app_http_request_duration_seconds_count{code="303",method="GET",route="/sso/callback"}`:       1,
		`app_http_request_duration_seconds_count{code="503",method="POST",route="/webhooks/platform"}`: 0, // before there is any
		`app_platform_exchange_duration_seconds_count{outcome="ok"}`:                                   1,
		`app_database_up`: 1, `app_database_read_only`: 0, `app_http_requests_in_flight`: 0,
		`app_database_pool_connections{pool="probe",state="idle"}`: 1, `app_database_pool_connections_max{pool="probe"}`: 1,
	})
}

func aboutEvents(t *testing.T, m measured) {
	m.Event(t, "item.made-up-4711", "acme", nil)
	m.Event(t, "item.suggested", "acme", map[string]string{"label": "x"})
	m.Event(t, "item.suggested", "acme", map[string]string{"label": ""})
	m.Event(t, "item.shaky", "acme", nil)
	m.Browser(t).Do(http.MethodPost, "/webhooks/platform", strings.NewReader("{}"), nil)
	m.want(t, series{
		`app_webhook_attempts_total{outcome="done",type="subscription.created"}`:                       1,
		`app_webhook_attempts_total{outcome="ignored",type="other"}`:                                   1,
		`app_webhook_attempts_total{outcome="done",type="item.suggested"}`:                             1,
		`app_webhook_attempts_total{outcome="failed",type="item.suggested"}`:                           1,
		`app_webhook_events{status="pending"}`:                                                         1,
		`app_webhook_events{status="failed"}`:                                                          1,
		`app_http_request_duration_seconds_count{code="401",method="POST",route="/webhooks/platform"}`: 1,
		`app_http_request_duration_seconds_count{code="422",method="POST",route="/webhooks/platform"}`: 1,
		`app_http_request_duration_seconds_count{code="500",method="POST",route="/webhooks/platform"}`: 1,
	})
	m.await(t, "the event that fails is tried again, and is old", func(s series) bool {
		return s[`app_webhook_attempts_total{outcome="failed_once",type="item.shaky"}`] > 1 && s[`app_webhook_oldest_pending_seconds`] > 1
	})
}

func aboutJobs(t *testing.T, m measured) {
	m.want(t, series{`app_jobs{status="pending"}`: 0, `app_jobs{status="failed"}`: 0, `app_jobs_oldest_due_seconds`: 0, `app_log_lines_dropped_total`: 3})
	m.Exec(t, `INSERT INTO public.river_job (kind, args, max_attempts, state, scheduled_at, finalized_at)
		VALUES ('of-another-program', '{}', 3, 'available', now() - interval '1 hour', NULL), ('of-another-program', '{}', 3, 'discarded', now(), now())`)
	m.want(t, series{`app_jobs{status="pending"}`: 1, `app_jobs{status="failed"}`: 1, `app_jobs{status="running"}`: 0})
	m.await(t, "the job that is due is old", func(s series) bool { return s[`app_jobs_oldest_due_seconds`] > 3599 })
}

func aboutThePlatform(t *testing.T, m measured) {
	for outcome, fault := range map[string]simulator.Faults{
		"unavailable": {UserInfoStatus: http.StatusInternalServerError},
		"refused":     {UserInfoStatus: http.StatusBadRequest},
		"bad_answer":  {UserInfoBody: simulator.BodyGarbage},
	} {
		m.Platform.SetFaults(fault)
		m.Browser(t).Callback("u-acme")
		m.want(t, series{`app_platform_exchange_duration_seconds_count{outcome="` + outcome + `"}`: 1})
	}
	m.Platform.SetFaults(simulator.Faults{})
}

func aboutTenants(t *testing.T, m measured) {
	m.want(t, series{`app_tenants{status="active",version="1"}`: 1, `app_tenants_migration_failed`: 0})
	m.Event(t, "tenant.cancelled", "acme", nil)
	m.want(t, series{`app_tenants{status="cancelled",version="1"}`: 1})
	m.Subscribe(t, "beta")
	m.want(t, series{`app_tenants{status="active",version="1"}`: 1})
	m.Replica(t, fixture.Migrating(fstest.MapFS{
		"000001_items.up.sql": {Data: []byte(`SELECT 1`)}, "000002_broken.up.sql": {Data: []byte(`SELECT 1/0`)},
	}), handlertest.Setup{})
	m.await(t, "migrations have failed", func(s series) bool { return s[`app_tenants_migration_failed`] > 0 })
}

func aboutPools(t *testing.T, m measured, hold chan struct{}) {
	before := m.scrape(t)
	b := m.SignIn(t, "gamma")
	go b.Get("/api/hold")
	m.want(t, series{`app_http_requests_in_flight`: 1, `app_database_pool_connections{pool="requests",state="acquired"}`: 1})
	close(hold)
	m.want(t, series{`app_http_requests_in_flight`: 0, `app_database_pool_connections{pool="requests",state="acquired"}`: 0})
	after := m.scrape(t)
	for _, pool := range []string{"requests", "inbox"} {
		for _, name := range []string{"_count", "_sum"} {
			name = fmt.Sprintf(`app_database_pool_acquire_seconds%s{pool=%q}`, name, pool)
			if after[name] <= before[name] {
				t.Errorf("%s stays %v", name, after[name])
			}
		}
	}
}

// No label names a tenant, a user, a path or a type that a client has made up. Who
// reaches the product's address does not see them all the same.
func aboutLabels(t *testing.T, m measured) {
	if answer := m.Browser(t).Get("/metrics"); answer.Status != http.StatusNotFound {
		t.Errorf("/metrics on the product's address: %d", answer.Status)
	}
	for name := range m.scrape(t) {
		for _, word := range []string{"acme", "beta", "gamma", "4711", "BREW"} {
			if strings.Contains(name, word) {
				t.Errorf("a label says %s: %s", word, name)
			}
		}
	}
}

// While the server stops, the metrics are there until the last request is done.
func TestMetrics_AreServedUntilTheEnd(t *testing.T) {
	t.Parallel()
	var m measured
	begun, itself, scraped := make(chan struct{}), make(chan measured, 1), make(chan error, 1)
	p := fixture.With(func(r server.Routes) {
		r.Public.GET("/last", func(c echo.Context) error {
			m := <-itself
			close(begun)
			for conn, err := net.Dial("tcp", m.URL[len("http://"):]); err == nil; conn, err = net.Dial("tcp", m.URL[len("http://"):]) {
				conn.Close()
			}
			response, err := http.Get(m.url)
			if err == nil {
				response.Body.Close()
			}
			scraped <- err
			return c.NoContent(http.StatusNoContent)
		})
	})
	t.Run("server", func(t *testing.T) {
		m = measure(t, p, handlertest.Setup{})
		itself <- m
		go func() { _, _ = http.Get(m.URL + "/last") }()
		<-begun
	}) // whose end stops the server
	if err := <-scraped; err != nil {
		t.Errorf("while a request is running: %v", err)
	}
	if _, err := http.Get(m.url); err == nil {
		t.Error("they are served when the server has stopped")
	}
}

// A port that somebody has is an error of the start.
func TestMetrics_ATakenPortIsAnErrorOfTheStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	c := site.Config
	c.MetricsAddr = taken.Addr().String()
	err = server.Serve(t.Context(), fixture.Product(), c, l, slog.New(slog.DiscardHandler), server.Options{})
	if err == nil || !strings.Contains(err.Error(), "METRICS_ADDR") || !strings.Contains(err.Error(), "in use") {
		t.Errorf("error is %v", err)
	}
}
