package web

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// listen serves h with the server's own limits, each divided by speedUp, and
// returns the address.
func listen(t *testing.T, h http.HandlerFunc, speedUp time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(2*time.Minute, h, slog.New(slog.DiscardHandler))
	for _, limit := range []*time.Duration{&server.ReadHeaderTimeout, &server.ReadTimeout, &server.WriteTimeout, &server.IdleTimeout} {
		if *limit <= 0 || *limit > 2*time.Minute {
			t.Fatalf("a limit is %v", *limit)
		}
		*limit /= speedUp
	}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return l.Addr().String()
}

func dial(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

// drip sends a byte now and then until the server closes it, and says how long
// that took.
func drip(conn net.Conn, start string) time.Duration {
	began := time.Now()
	_, _ = io.WriteString(conn, start)
	gone := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, conn); close(gone) }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-gone:
			return time.Since(began)
		case <-tick.C:
			_, _ = io.WriteString(conn, "a")
		}
		if time.Since(began) > 20*time.Second {
			return time.Since(began)
		}
	}
}

// Slowloris: hundreds of clients that never finish their headers or their body
// are cut off, and meanwhile everybody else is answered.
func TestServer_SlowClientsCannotHoldTheServer(t *testing.T) {
	t.Parallel()
	address := listen(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }, 10)
	var slow sync.WaitGroup
	for i := range 300 {
		start := "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "
		if i%2 == 0 {
			start = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
		}
		conn := dial(t, address)
		slow.Go(func() {
			if held := drip(conn, start); held > readTimeout/10+8*time.Second {
				t.Errorf("held for %v by %.4s", held, start)
			}
		})
	}
	for range 20 {
		began := time.Now()
		response, err := http.Get("http://" + address)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("somebody else waited %v", took)
		}
	}
	slow.Wait()
}

// A client that does not read its answer is cut off too.
func TestServer_AClientThatDoesNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	address := listen(t, func(w http.ResponseWriter, _ *http.Request) {
		chunk := make([]byte, 1<<20)
		var err error
		for range 256 {
			if _, err = w.Write(chunk); err != nil {
				break
			}
		}
		ended <- err
	}, 100)
	conn := dial(t, address)
	_ = conn.SetReadBuffer(4096)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case err := <-ended:
		if err == nil {
			t.Error("256 MiB went nowhere")
		}
	case <-time.After(20 * time.Second):
		t.Error("the server still writes")
	}
}

func TestServer_HeadersAreLimited(t *testing.T) {
	t.Parallel()
	address := listen(t, func(http.ResponseWriter, *http.Request) {}, 1)
	for name, header := range map[string]string{
		"one": "X-Big: " + strings.Repeat("x", 1<<20), "many": strings.Repeat("X-A: "+strings.Repeat("y", 100)+"\r\n", 10_000) + "X-B: c",
		"a cookie": "Cookie: a=" + strings.Repeat("x", 1<<20),
	} {
		conn := dial(t, address)
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n"+header+"\r\n\r\n")
		answer := make([]byte, 12)
		if n, _ := io.ReadFull(conn, answer); n > 0 && string(answer) != "HTTP/1.1 431" {
			t.Errorf("%s: %s, want 431", name, answer)
		}
	}
}

// Requests whose length two readers could see differently are no requests.
func TestServer_RequestsThatCouldBeSmuggled(t *testing.T) {
	t.Parallel()
	var asked []string
	var mu sync.Mutex
	address := listen(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path)
	}, 10)
	const hidden = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, head := range map[string]string{
		"two lengths":          "Content-Length: 0\r\nContent-Length: 36\r\n",
		"two lengths, joined":  "Content-Length: 0, 36\r\n",
		"a signed length":      "Content-Length: +0\r\n",
		"a negative length":    "Content-Length: -1\r\n",
		"space before a colon": "Transfer-Encoding : chunked\r\nContent-Length: 0\r\n",
		"unknown coding":       "Transfer-Encoding: xchunked\r\n",
		"two codings":          "Transfer-Encoding: gzip, chunked\r\n",
		"codings twice":        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
		"a folded line":        "X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 36\r\n",
		"chunked and a length": "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
	} {
		conn := dial(t, address)
		body := hidden
		if name == "chunked and a length" {
			body = "24\r\n" + hidden + "\r\n0\r\n\r\n"
		}
		_, _ = io.WriteString(conn, "POST /"+name[:1]+" HTTP/1.1\r\nHost: x\r\n"+head+"\r\n"+body)
		_ = conn.CloseWrite()
		answer, _ := io.ReadAll(conn)
		if strings.Count(string(answer), "HTTP/1.1 200") > 1 {
			t.Errorf("%s: two answers:\n%s", name, answer)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if strings.Contains(strings.Join(asked, " "), "smuggled") {
		t.Errorf("served %q", asked)
	}
}

// The limits hold in Serve itself.
func TestServer_HasTheLimits(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Serve(ctx, t.Context(), l, time.Minute, http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	}()
	if held := drip(dial(t, l.Addr().String()), "GET / HTTP/1.1\r\nX-Slow: "); held > readHeaderTimeout+5*time.Second {
		t.Errorf("headers may take %v", held)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
