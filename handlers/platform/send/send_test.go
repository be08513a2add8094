package send_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/handlers/platform/send"
	"example.com/subproduct/tenancy/commands/flags"
)

const secret = "secret-of-the-test"

// endpoint answers with status and keeps what it was sent.
func endpoint(t *testing.T, status int) (url string, got <-chan []byte) {
	t.Helper()
	bodies := make(chan []byte, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !platform.Verify(secret, body, r.Header.Get(platform.SignatureHeader)) || r.Method != http.MethodPost {
			t.Errorf("%s, signature %q", r.Method, r.Header.Get(platform.SignatureHeader))
		}
		bodies <- body
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "all \x1b[2Jwell")
	}))
	t.Cleanup(server.Close)
	return server.URL, bodies
}

func TestSendEvent_AnEventIsSignedAndPosted(t *testing.T) {
	t.Parallel()
	url, got := endpoint(t, http.StatusAccepted)
	var out strings.Builder
	for range 2 {
		if err := send.Run(t.Context(), secret, []string{"invoice.paid", "acme", "--to", url, "--data", `{"total": 7}`}, &out); err != nil {
			t.Fatal(err)
		}
	}
	first, second := <-got, <-got
	var event struct {
		EventType, TenantSlug string
		Data                  struct{ Total int }
	}
	if err := json.Unmarshal(first, &event); err != nil || event.EventType != "invoice.paid" || event.TenantSlug != "acme" || event.Data.Total != 7 {
		t.Errorf("%s: %+v, %v", first, event, err)
	}
	if string(first) == string(second) {
		t.Error("two events have the same bytes: the second would have no effect")
	}
	if !strings.Contains(out.String(), "202 Accepted in ") || !strings.Contains(out.String(), `all \x1b[2Jwell`) {
		t.Errorf("printed %q", out.String())
	}
}

func TestSendEvent_WhatThePlatformWouldDeliverAgain(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusFound, http.StatusUnauthorized, http.StatusServiceUnavailable} {
		url, _ := endpoint(t, status)
		if err := send.Run(t.Context(), secret, []string{"x", "acme", "--to=" + url}, io.Discard); !errors.Is(err, send.ErrNotAcknowledged) {
			t.Errorf("%d: %v", status, err)
		}
	}
	if err := send.Run(t.Context(), secret, []string{"x", "acme", "--to", "http://127.0.0.1:1"}, io.Discard); !errors.Is(err, send.ErrNotAcknowledged) {
		t.Errorf("nobody there: %v", err)
	}
}

// Whose secret is another is told why, and where it is right.
func TestSendEvent_AnotherSecretIsSaid(t *testing.T) {
	t.Parallel()
	url, _ := endpoint(t, http.StatusUnauthorized)
	err := send.Run(t.Context(), secret, []string{"x", "acme", "--to=" + url}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "another than this WEBHOOK_SECRET") || !strings.Contains(err.Error(), "Send any event") {
		t.Errorf("%v", err)
	}
}

func TestSendEvent_NoAnswerWithinTheLimit(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	began := time.Now()
	err := send.Run(t.Context(), secret, []string{"x", "acme", "--to", server.URL}, io.Discard)
	if !errors.Is(err, send.ErrNotAcknowledged) || !strings.Contains(err.Error(), "within 5s") || time.Since(began) > 7*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

func TestSendEvent_WrongCalls(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"", "x", "x acme", "x acme --to nonsense", "x acme --to ftp://a", "x acme more --to http://a", "x acme --to http://a --data {", "--nonsense"} {
		if err := send.Run(t.Context(), secret, strings.Fields(args), io.Discard); !errors.Is(err, flags.ErrUsage) {
			t.Errorf("send-event %s: %v, want a usage error", args, err)
		}
	}
}

func TestSendEvent_SendsTheExactBytesOfAFile(t *testing.T) {
	t.Parallel()
	url, got := endpoint(t, http.StatusOK)
	want := "{\"eventType\" : \"x\"}\r\n "
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := send.Run(t.Context(), secret, []string{"x", "acme", "--to", url, "--body", file}, io.Discard); err != nil {
			t.Fatal(err)
		}
		if body := <-got; string(body) != want {
			t.Errorf("sent %q, want %q", body, want)
		}
	}
}
