package server_test

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/handlertest"
)

// load is clients that send request after request, some on connections that are
// kept alive, and events.
type load struct {
	url          string
	stop         chan struct{}
	running      sync.WaitGroup
	mu           sync.Mutex
	answered     int
	acknowledged []string // bodies of events
	failures     []string
}

func newLoad(url string) *load {
	l := &load{url: url, stop: make(chan struct{})}
	for i := range 6 {
		if i < eventClients {
			l.post(http.DefaultClient, fmt.Sprintf(`{"eventType":"subscription.created","tenantSlug":"t%d"}`, i), true)
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: i%2 == 0}, Timeout: 10 * time.Second}
		l.running.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-l.stop:
					return
				default:
					l.post(client, fmt.Sprintf(`{"eventType":"item.suggested","tenantSlug":"t%d","data":{"label":"%d"}}`, i, n), i < eventClients)
				}
			}
		})
	}
	return l
}

// eventClients are the first of the clients: they send events.
const eventClients = 2

// post sends what a client never sends twice by itself.
func (l *load) post(client *http.Client, body string, event bool) {
	request, err := signed(l.url, body)
	if err == nil && !event {
		request.URL.Path = "/work"
	}
	code := 0
	if err == nil {
		request.GetBody = nil
		code, err = do(client, request)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil || code/100 != 2:
		l.failures = append(l.failures, fmt.Sprint(code, " ", err))
		return
	case event:
		l.acknowledged = append(l.acknowledged, body)
	}
	l.answered++
}

func do(client *http.Client, request *http.Request) (code int, err error) {
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

func (l *load) end() (answered int, acknowledged, failures []string) {
	close(l.stop)
	l.running.Wait()
	return l.answered, l.acknowledged, l.failures
}

// awaitDone waits until each of the events has been applied.
func awaitDone(t *testing.T, database string, bodies []string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	handlertest.Await(t, "all events are done", func() bool {
		var done int
		err := conn.QueryRow(t.Context(), `
			SELECT count(*) FROM public.webhook_events WHERE status = 'done' AND convert_from(body, 'UTF8') = ANY ($1)`, bodies).Scan(&done)
		return err == nil && done == len(bodies)
	})
}
