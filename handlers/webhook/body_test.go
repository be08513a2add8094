package webhook_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/platform"
)

// stall sends the head of a delivery and the beginning of its body, and returns
// the status that comes back without the rest.
func stall(t *testing.T, site *handlertest.Site, signature string, length, sent int) (status int, took time.Duration) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(site.URL, "http://"))
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	began := time.Now()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s: %s\r\n\r\n", path, length, platform.SignatureHeader, signature)
	go func() { _, _ = io.CopyN(conn, zeros{}, int64(sent)) }() // it may be answered before
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Errorf("no answer: %v", err)
		return 0, 0
	}
	response.Body.Close()
	return response.StatusCode, time.Since(began)
}

// A signature that is none is refused by the head alone.
func TestBody_AMalformedSignatureIsRefusedBeforeTheBodyIsRead(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	for _, signature := range []string{"", "x", strings.Repeat("A", 64), strings.Repeat("0", 65)} {
		if status, took := stall(t, site, signature, 1000, 0); status != http.StatusUnauthorized || took > 2*time.Second {
			t.Errorf("%.10q: %d after %v, want 401 at once", signature, status, took)
		}
	}
	if status, took := stall(t, site, strings.Repeat("0", 64), 1<<20+1, 0); status != http.StatusRequestEntityTooLarge || took > 2*time.Second {
		t.Errorf("over 1 MiB by its length: %d after %v, want 413 at once", status, took)
	}
}

// Bodies that stall are bounded in bytes and in time, and keep no event out.
func TestBody_StalledOnesAreBoundedAndLockNothingOut(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for range 64 {
		all.Go(func() {
			status, took := stall(t, site, strings.Repeat("0", 64), 1<<20, 1<<20-1)
			if took >= 6*time.Second {
				t.Errorf("%d after %v", status, took)
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	handlertest.Await(t, "the room is used up", func() bool { mu.Lock(); defer mu.Unlock(); return statuses[http.StatusServiceUnavailable] > 0 })
	if answer := deliver(t, site, created("acme")); answer.Status != http.StatusOK {
		t.Errorf("an event meanwhile: %d %s", answer.Status, answer.Body)
	}
	all.Wait()
	stalled, refused := statuses[http.StatusRequestTimeout], statuses[http.StatusServiceUnavailable]
	if stalled+refused != 64 || stalled > 33 || stalled == 0 {
		t.Errorf("answers %v; want 408 for at most 33, which is what there is room for, and else 503", statuses)
	}
	large := `{"eventType":"x","pad":"` + strings.Repeat("x", 1<<19) + `"}`
	for range 100 { // more than the room, were it not given back
		if answer := deliver(t, site, large); answer.Status != http.StatusOK {
			t.Fatalf("a large event afterwards: %d %s", answer.Status, answer.Body)
		}
	}
}
