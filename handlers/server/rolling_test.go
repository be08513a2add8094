package server_test

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/tenancy/localpg/pgtest"
)

// lag is how long the balancer goes on sending connections to a server whose
// /readyz has said no.
const lag = 500 * time.Millisecond

// Each replica is restarted in turn, under load, behind a balancer that lags: no
// request fails, and no event is lost. Without the delay some do, which shows
// that the test would notice.
func TestRolling_NoRequestFailsWhereTheDelayOutlastsTheBalancersLag(t *testing.T) {
	t.Parallel()
	for delay, fails := range map[time.Duration]bool{4 * lag: false, 0: true} {
		t.Run("delay "+delay.String(), func(t *testing.T) {
			t.Parallel()
			database := pgtest.URL(t)
			b := newBalancer(t)
			replica := func() *process {
				p := startProcess(t, database, "DRAIN_DELAY="+delay.String())
				b.add(p.url)
				b.awaitInRotation(t, p.url)
				return p
			}
			replicas := []*process{replica(), replica()}
			l := newLoad(b.url())
			for _, old := range replicas {
				old.signal(t, syscall.SIGTERM)
				if code := old.exit(t, 20*time.Second); code != 0 {
					t.Errorf("exit %d", code)
				}
				replica()
			}
			answered, acknowledged, failures := l.end()
			t.Logf("%d answered, %d failed", answered, len(failures))
			if answered < 100 || (len(failures) > 0) != fails {
				t.Errorf("%d answered; %d failed, the first: %v", answered, len(failures), failures[:min(3, len(failures))])
			}
			awaitDone(t, database, acknowledged)
		})
	}
}

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

// balancer hands TCP connections to the servers in turn whose /readyz says yes,
// or has said no for less than lag.
type balancer struct {
	l       net.Listener
	next    atomic.Int64
	mu      sync.Mutex
	lastYes map[string]time.Time // by URL; zero: never
}

func newBalancer(t *testing.T) *balancer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{l: l, lastYes: map[string]time.Time{}}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		b.watch(stop)
	}()
	go b.accept()
	t.Cleanup(func() { close(stop); <-done; l.Close() })
	return b
}

func (b *balancer) url() string { return "http://" + b.l.Addr().String() }

func (b *balancer) add(url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastYes[url] = time.Time{}
}

func (b *balancer) watch(stop chan struct{}) {
	for {
		b.mu.Lock()
		urls := make([]string, 0, len(b.lastYes))
		for url := range b.lastYes {
			urls = append(urls, url)
		}
		b.mu.Unlock()
		for _, url := range urls {
			if status(url+"/readyz") == http.StatusOK {
				b.mu.Lock()
				b.lastYes[url] = time.Now()
				b.mu.Unlock()
			}
		}
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (b *balancer) inRotation() (urls []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for url, at := range b.lastYes {
		if time.Since(at) < lag {
			urls = append(urls, url)
		}
	}
	slices.SortFunc(urls, cmp.Compare[string])
	return urls
}

func (b *balancer) awaitInRotation(t *testing.T, url string) {
	t.Helper()
	handlertest.Await(t, url+" is in rotation", func() bool { return slices.Contains(b.inRotation(), url) })
}

func (b *balancer) accept() {
	for {
		front, err := b.l.Accept()
		if err != nil {
			return
		}
		urls := b.inRotation()
		if len(urls) == 0 {
			front.Close()
			continue
		}
		back, err := net.Dial("tcp", strings.TrimPrefix(urls[b.next.Add(1)%int64(len(urls))], "http://"))
		if err != nil {
			front.Close()
			continue
		}
		go pipe(front, back)
		go pipe(back, front)
	}
}

// pipe ends both connections when one side has ended.
func pipe(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	to.Close()
	from.Close()
}
