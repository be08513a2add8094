package server_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
)

// A user who closes the page while it loads is no fault of the server, and sets
// off no alert.
func TestLog_AClientThatLeavesIsNoFault(t *testing.T) {
	t.Parallel()
	var log handlertest.Log
	began := make(chan struct{})
	site := handlertest.Start(t, fixture.With(func(r server.Routes) {
		r.User.GET("/api/slow", func(c echo.Context) error {
			close(began)
			_, err := r.DB.Exec(c.Request().Context(), `SELECT pg_sleep(60)`)
			return err
		})
	}), handlertest.Setup{Log: &log})
	b := site.SignIn(t, "acme")
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, site.URL+"/api/slow", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-began; leave() }()
	if answer, err := b.Client.Do(request); !errors.Is(err, context.Canceled) {
		if err == nil {
			_ = answer.Body.Close()
		}
		t.Fatalf("%v, want that the client has left", err)
	}
	handlertest.Await(t, "the request is in the log", func() bool { return len(lines(t, &log, "request", "/api/slow")) == 1 })
	if line := lines(t, &log, "request", "/api/slow")[0]; line["status"] != 499.0 || line["level"] != "INFO" {
		t.Errorf("the log says %v", line)
	}
}
