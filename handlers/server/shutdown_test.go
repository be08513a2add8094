package server_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
	"example.com/subproduct/tenancy/inbox"
)

// SHUTDOWN_TIMEOUT is spent once: what a request has taken of it, an event does
// not get.
func TestServe_OneBudgetForRequestsAndEvents(t *testing.T) {
	t.Parallel()
	const budget, request = 5 * time.Second, 3 * time.Second
	started := make(chan struct{})
	p := fixture.With(func(r server.Routes) {
		r.Public.GET("/slow", func(c echo.Context) error {
			close(started)
			<-time.After(request)
			return c.NoContent(http.StatusNoContent)
		})
	})
	p.Events["stuck"] = inbox.Handler{Apply: func(ctx context.Context, _ pgx.Tx, _ inbox.Event) error { <-ctx.Done(); return ctx.Err() }}
	var asked time.Time
	finished := make(chan int, 1)
	t.Run("server", func(t *testing.T) {
		site := handlertest.Start(t, p, handlertest.Setup{Env: map[string]string{"SHUTDOWN_TIMEOUT": budget.String()}})
		site.Subscribe(t, "acme")
		if answer := site.Event(t, "stuck", "acme", nil); answer.Status != http.StatusAccepted {
			t.Fatalf("the event: %d, want 202", answer.Status)
		}
		go func() {
			response, err := http.Get(site.URL + "/slow")
			if err != nil {
				finished <- 0
				return
			}
			response.Body.Close()
			finished <- response.StatusCode
		}()
		<-started
		asked = time.Now()
	}) // whose end stops the server
	took := time.Since(asked)
	if status := <-finished; status != http.StatusNoContent {
		t.Errorf("the request: %d, want it finished", status)
	}
	if took < request || took >= request+budget-time.Second {
		t.Errorf("it stopped after %v, want some %v", took, budget)
	}
}
