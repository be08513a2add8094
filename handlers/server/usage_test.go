package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
)

// lines are the log's lines with that message and, unless it is empty, route.
func lines(t *testing.T, log *handlertest.Log, message, route string) (found []map[string]any) {
	t.Helper()
	for text := range strings.Lines(log.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line["msg"] == message && (route == "" || line["route"] == route) {
			found = append(found, line)
		}
	}
	return found
}

// "Customer X says that page Y was slow": whose request it was, and where its
// time went.
func TestLog_ARequestsLineSaysWhereItsTimeWent(t *testing.T) {
	t.Parallel()
	var log handlertest.Log
	site := handlertest.Start(t, fixture.With(func(r server.Routes) {
		r.User.GET("/api/slow/:secret", func(c echo.Context) error {
			ctx := c.Request().Context()
			return r.DB.InTx(ctx, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, "SELECT 1,\n\t$1::text, pg_sleep(0.3)", c.Param("secret")); err != nil {
					return err
				}
				return c.String(http.StatusOK, "12345")
			})
		})
	}), handlertest.Setup{Log: &log})
	b := site.SignIn(t, "acme")
	b.Get("/api/slow/hunter2")
	request := lines(t, &log, "request", "/api/slow/:secret")[0]
	for key, want := range map[string]any{"tenant": "acme", "user_id": "u-acme", "status": 200.0, "bytes": 5.0, "statements": 3.0} {
		if request[key] != want {
			t.Errorf("%s is %v, want %v", key, request[key], want)
		}
	}
	took, database, wait := request["took_ms"].(float64), request["db_ms"].(float64), request["db_wait_ms"].(float64)
	if database < 300 || database+wait > took {
		t.Errorf("%v ms in the database and %v waiting of %v", database, wait, took)
	}
	slow := lines(t, &log, "slow statement", "")
	if len(slow) != 1 || slow[0]["sql"] != "SELECT 1, $1::text, pg_sleep(0.3)" || slow[0]["request_id"] != request["request_id"] || slow[0]["tenant"] != "acme" {
		t.Errorf("slow statements: %v", slow)
	}
	if strings.Contains(log.String(), "hunter2") {
		t.Error("an argument is in the log")
	}
}

// The lines of what has no session yet have their tenant too.
func TestLog_SignInsAndEventsNameTheirTenant(t *testing.T) {
	t.Parallel()
	var log handlertest.Log
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Log: &log})
	site.SignIn(t, "acme")
	site.Event(t, "nobody.knows", "acme", nil)
	callback := lines(t, &log, "request", "/sso/callback")[0]
	if callback["tenant"] != "acme" || callback["user_id"] != "u-acme" || strings.Contains(log.String(), "code=") {
		t.Errorf("callback: %v", callback)
	}
	events := lines(t, &log, "request", "/webhooks/platform")
	if events[0]["tenant"] != "acme" || events[0]["event_type"] != "subscription.created" {
		t.Errorf("event: %v", events[0])
	}
	if unknown := events[1]; unknown["tenant"] != "acme" || unknown["event_type"] != nil {
		t.Errorf("an event without a handler: %v", unknown)
	}
}

// A key that the platform does not accept is the operator's matter: an error
// that names the setting, and no blame on the user's link.
func TestLog_ARefusedAPIKeyNamesItsSetting(t *testing.T) {
	t.Parallel()
	var log handlertest.Log
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	site.Subscribe(t, "acme")
	wrong := site.Replica(t, fixture.Product(), handlertest.Setup{Log: &log, Env: map[string]string{"PLATFORM_API_KEY": "one-that-has-expired"}})
	answer := wrong.Browser(t).Callback("u-acme")
	said := strings.ReplaceAll(answer.Body, answer.Header.Get("X-Request-Id"), "") // which may have any letters
	if answer.Status != http.StatusUnauthorized || strings.Contains(said, "expired") || !strings.Contains(said, "Sign in again") || strings.Contains(said, "API") {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	found := false
	for text := range strings.Lines(log.String()) {
		found = found || strings.Contains(text, `"level":"ERROR"`) && strings.Contains(text, "PLATFORM_API_KEY") && !strings.Contains(text, "one-that")
	}
	if !found {
		t.Errorf("no error names PLATFORM_API_KEY:\n%s", log.String())
	}
	if answer := site.Browser(t).Get("/sso/callback?code=spent"); !strings.Contains(answer.Body, "has expired") {
		t.Errorf("a code that is refused: %s", answer.Body)
	}
}

// A handler that panics, or returns, with its rows open has its connections closed
// for it, and its line in the log says so.
func TestLog_RowsLeftOpenAreSaidAndCostNoConnection(t *testing.T) {
	t.Parallel()
	var log handlertest.Log
	site := handlertest.Start(t, fixture.With(func(r server.Routes) {
		r.User.GET("/api/forgets", func(c echo.Context) error {
			if _, err := r.DB.Query(c.Request().Context(), `SELECT 1`); err != nil { //nolint:sqlclosecheck // that is the point
				return err
			}
			panic("with its rows open")
		})
	}), handlertest.Setup{Log: &log})
	b := site.SignIn(t, "acme")
	for range 5 {
		if a := b.Get("/api/forgets"); a.Status != http.StatusInternalServerError {
			t.Errorf("%d", a.Status)
		}
	}
	for _, line := range lines(t, &log, "request", "/api/forgets") {
		if line["rows_left_open"] != 1.0 {
			t.Errorf("rows left open: %v", line["rows_left_open"])
		}
	}
}
