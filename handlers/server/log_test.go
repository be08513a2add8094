package server_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy"
	"example.com/subproduct/tenancy/inbox"
	"example.com/subproduct/tenancy/jobs"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

type remark struct{}

func (remark) Kind() string { return "remark" }

// What a product logs names the tenant and the request that it is about, once,
// in a request, an event and a job alike.
func TestLog_AProductsLinesSayWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	var out handlertest.Log
	log := slog.New(server.InContext(slog.NewJSONHandler(&out, nil)))
	p := fixture.With(func(r server.Routes) {
		r.Public.GET("/anybody", func(c echo.Context) error { log.InfoContext(c.Request().Context(), "anybody"); return nil })
		r.User.GET("/somebody", func(c echo.Context) error {
			ctx := c.Request().Context()
			log.With("tenant", "theirs").InfoContext(ctx, "somebody", "request_id", "own")
			return r.DB.InTx(ctx, func(tx pgx.Tx) error {
				log.InfoContext(ctx, "in a transaction")
				return jobs.Insert(ctx, tx, remark{})
			})
		})
	})
	p.Events["remarked"] = inbox.Handler{Apply: func(ctx context.Context, _ pgx.Tx, _ inbox.Event) error {
		log.InfoContext(ctx, "event")
		return nil
	}}
	p.Jobs = func(*tenancy.DB) []jobs.Declared {
		return []jobs.Declared{jobs.Handle(func(ctx context.Context, _ remark) error { log.InfoContext(ctx, "job"); return nil })}
	}
	site := handlertest.Start(t, p, handlertest.Setup{})
	b := site.SignIn(t, "acme")
	anybody, somebody := site.Browser(t).Get("/anybody").Header.Get("X-Request-Id"), b.Get("/somebody").Header.Get("X-Request-Id")
	site.Event(t, "remarked", "acme", nil)
	site.RunJobs(t)
	want := [][3]string{
		{"anybody", "", anybody}, {"somebody", "theirs", "own"}, {"in a transaction", "acme", somebody}, {"event", "acme", ""}, {"job", "acme", ""},
	}
	var got [][3]string
	for line := range strings.Lines(out.String()) {
		var said struct {
			Msg, Tenant string
			Request     string `json:"request_id"`
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil || strings.Count(line, `"tenant"`) > 1 || strings.Count(line, `"request_id"`) > 1 {
			t.Errorf("%s: %v", line, err)
		}
		got = append(got, [3]string{said.Msg, said.Tenant, said.Request})
	}
	if !slices.Equal(got, want) || anybody == "" {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

// The server's logger is slog's default.
func TestServe_AProductLogsInTheServersFormat(t *testing.T) {
	t.Parallel()
	p := startProcess(t, pgtest.URL(t))
	p.awaitStatus(t, "/readyz", http.StatusOK)
	answer, err := http.Post(p.url+"/say", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if id := p.match(t, `(?m)^\{.*"level":"INFO","msg":"said by the product","request_id":"([^"]+)"\}$`); id != answer.Header.Get("X-Request-Id") {
		t.Errorf("the request is %q, and the line says %q", answer.Header.Get("X-Request-Id"), id)
	}
}
