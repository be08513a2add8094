package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// A sender that resets its connection while its event waits to be stored is no
// fault of the server, and sets off no alert.
func TestWebhook_ASenderThatLeavesIsNoFault(t *testing.T) {
	t.Parallel()
	var log handlertest.Log
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{Log: &log})
	lock := pgtest.Connect(t, site.Database)
	defer lock.Close(context.Background()) // one that nobody has a use for any more is closed with the garbage
	for _, sql := range []string{`BEGIN`, `LOCK TABLE public.webhook_events`} {
		if _, err := lock.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(site.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	body := created("acme")
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s",
		path, platform.SignatureHeader, platform.Sign(handlertest.WebhookSecret, []byte(body)), len(body), body)
	handlertest.Await(t, "the event waits", func() bool {
		return handlertest.Query[int](t, site, `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'public.webhook_events'::regclass`) > 0
	})
	_ = conn.(*net.TCPConn).SetLinger(0) // a reset
	conn.Close()
	var line map[string]any
	handlertest.Await(t, "the request is in the log", func() bool {
		for text := range strings.Lines(log.String()) {
			if strings.Contains(text, `"msg":"request"`) && strings.Contains(text, path) {
				return json.Unmarshal([]byte(text), &line) == nil
			}
		}
		return false
	})
	if line["status"] != 499.0 || line["level"] != "INFO" || strings.Contains(log.String(), "event refused") {
		t.Errorf("the log says %v in\n%s", line, log.String())
	}
}
