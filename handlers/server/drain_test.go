package server_test

import (
	"net/http"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/subproduct/tenancy/localpg/pgtest"
)

// While it drains, /readyz alone says no: everything else is answered, an event
// too, and each answer ends its connection.
func TestDrain_RequestsAreServedForTheDelay(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			if signal.Ignored(s) { // under nohup it has no effect, here and in our processes
				t.Skip("this process was told to ignore it")
			}
			const delay = 2 * time.Second
			p := startProcess(t, pgtest.URL(t), "DRAIN_DELAY="+delay.String())
			p.awaitStatus(t, "/readyz", http.StatusOK)
			p.awaitStatus(t, "/healthz", http.StatusOK)
			asked := time.Now()
			p.signal(t, s)
			p.awaitStatus(t, "/readyz", http.StatusServiceUnavailable)
			for _, path := range []string{"/", "/healthz", "/livez"} {
				response, err := http.Get(p.url + path)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if response.StatusCode != http.StatusOK || !response.Close {
					t.Errorf("%s: %d, closes its connection: %v", path, response.StatusCode, response.Close)
				}
			}
			request, err := signed(p.url, `{"eventType":"subscription.created","tenantSlug":"acme"}`)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("an event: %d", response.StatusCode)
			}
			if code := p.exit(t, 20*time.Second); code != 0 || time.Since(asked) < delay {
				t.Errorf("exit %d after %v", code, time.Since(asked))
			}
			for _, word := range []string{`"draining"`, `"stopped"`} {
				if strings.Count(p.text(), `"msg":`+word) != 1 {
					t.Errorf("%s is not in the log once", word)
				}
			}
		})
	}
}

func TestDrain_InterruptSkipsTheDelay(t *testing.T) {
	t.Parallel()
	p := startProcess(t, pgtest.URL(t), "DRAIN_DELAY=5m")
	p.awaitStatus(t, "/readyz", http.StatusOK)
	p.signal(t, syscall.SIGINT)
	if code := p.exit(t, 20*time.Second); code != 0 {
		t.Errorf("exit %d", code)
	}
	p.match(t, `"msg":"stopped"`)
}

// A server that nobody was sent to has nobody to wait for.
func TestDrain_BeforeItIsReadyThereIsNoDelay(t *testing.T) {
	t.Parallel()
	p := startProcess(t, "postgres://postgres@127.0.0.1:1/x", "DRAIN_DELAY=5m")
	p.match(t, "waiting for the database")
	if got := status(p.url + "/readyz"); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz: %d", got)
	}
	p.signal(t, syscall.SIGTERM)
	if code := p.exit(t, 20*time.Second); code != 0 {
		t.Errorf("exit %d", code)
	}
}

func TestDrain_ASecondSignalStopsAtOnce(t *testing.T) {
	t.Parallel()
	p := startProcess(t, pgtest.URL(t), "DRAIN_DELAY=5m")
	p.awaitStatus(t, "/readyz", http.StatusOK)
	p.signal(t, syscall.SIGTERM)
	p.awaitStatus(t, "/readyz", http.StatusServiceUnavailable)
	p.signal(t, syscall.SIGTERM)
	if code := p.exit(t, 20*time.Second); code == 0 {
		t.Error("exit 0, as if everything had ended in good order")
	}
	if strings.Contains(p.text(), `"stopped"`) {
		t.Error("it took its time to stop")
	}
}
