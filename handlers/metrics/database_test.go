package metrics_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/metrics"
	"example.com/subproduct/tenancy/inbox"
)

// served has the metrics on an address, and returns how to scrape it.
func served(t *testing.T, m *metrics.Metrics) (scrape func() string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.Serve(l, slog.New(slog.DiscardHandler))
	t.Cleanup(m.Close)
	return func() string {
		response, err := http.Get("http://" + l.Addr().String() + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%d %s, %v", response.StatusCode, body, err)
		}
		return string(body)
	}
}

func up() bool { return true }

// Scrapes that follow each other share one reading, also of a database that
// refuses.
func TestDatabase_IsReadOnceInItsTime(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{nil, errors.New("refused")} {
		var reads atomic.Int64
		m := metrics.New("app", "v1")
		m.Watch(metrics.Database{Up: up, MaxAge: time.Hour, Statistics: func(context.Context) (inbox.Statistics, error) {
			reads.Add(1)
			return inbox.Statistics{Failed: 7}, failure
		}})
		scrape := served(t, m)
		for range 3 {
			if told := strings.Contains(scrape(), `app_webhook_events{status="failed"} 7`); told != (failure == nil) {
				t.Errorf("failure %v: the events are told: %v", failure, told)
			}
		}
		if n := reads.Load(); n != 1 {
			t.Errorf("it was read %d times", n)
		}
	}
}

// A database that hangs holds a scrape up for a second, and all the rest is told.
func TestDatabase_ThatHangsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	m := metrics.New("app", "v1")
	m.Watch(metrics.Database{Up: up, Statistics: func(ctx context.Context) (inbox.Statistics, error) {
		<-ctx.Done()
		return inbox.Statistics{}, ctx.Err()
	}})
	scrape := served(t, m)
	began := time.Now()
	body := scrape()
	if took := time.Since(began); took > 2*time.Second || !strings.Contains(body, "app_database_up 1") || strings.Contains(body, "app_webhook_events") {
		t.Errorf("after %v:\n%s", took, body)
	}
}

// What has no route is one value, and so is a method that nobody knows.
func TestRequests_WhatIsUnknownIsOneValue(t *testing.T) {
	t.Parallel()
	m := metrics.New("app", "v1")
	handle := m.Requests(func(c echo.Context) error { return c.NoContent(http.StatusNotFound) })
	for _, path := range []string{"/a", "/b"} {
		c := echo.New().NewContext(httptest.NewRequest("BREW"+path[1:], path, http.NoBody), httptest.NewRecorder())
		if err := handle(c); err != nil {
			t.Fatal(err)
		}
	}
	if body := served(t, m)(); !strings.Contains(body, `app_http_request_duration_seconds_count{code="404",method="other",route="/*"} 2`) {
		t.Error(body)
	}
}
