//go:build !production

package dev_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/subproduct/handlers/dev"
	"example.com/subproduct/handlers/dev/conformance"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/handlers/server"
)

// output is what a command has printed so far.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}
func (o *output) String() string { o.mu.Lock(); defer o.mu.Unlock(); return o.text.String() }

// platformOnly runs the command until stop is called, and returns what it
// printed until it was ready.
func platformOnly(t *testing.T, env map[string]string, args ...string) (printed string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var out output
	done := make(chan error, 1)
	go func() {
		done <- dev.Run(ctx, fixture.Product(), append([]string{"--platform-only", "--platform-addr", "127.0.0.1:0"}, args...),
			func(name string) (string, bool) { v, ok := env[name]; return v, ok }, &out)
	}()
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(out.String(), "Ctrl-C"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not ready: %s", out.String())
		}
	}
	return out.String(), func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// The simulator alone: it is there, makes up what nobody gave, and keeps that.
func TestPlatformOnly(t *testing.T) {
	t.Parallel()
	data := t.TempDir() + "/not/there/yet"
	first, stop := platformOnly(t, nil, "--data", data, "--webhook-url", "http://127.0.0.1:9/hooks")
	for _, want := range []string{"APP_SLUG=fixture", "http://127.0.0.1:9/hooks", "http://127.0.0.1:8080/healthz"} {
		if !strings.Contains(first, want) {
			t.Errorf("no %s in\n%s", want, first)
		}
	}
	address := regexp.MustCompile(`PLATFORM_BASE_URL=(\S+)`).FindStringSubmatch(first)[1]
	response, err := http.Get(address + "/_sim/state")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", response, err)
	}
	response.Body.Close()
	stop()
	if info, err := os.Stat(data + "/platform-only.json"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("state: %v, %v", info, err)
	}

	again, stop := platformOnly(t, nil, "--data", data)
	stop()
	secrets := regexp.MustCompile(`(?m)^  (PLATFORM_API_KEY|WEBHOOK_SECRET)=([A-Z2-7]{26})$`)
	made, kept := secrets.FindAllString(first, -1), secrets.FindAllString(again, -1)
	if len(made) != 2 || strings.Join(made, "") != strings.Join(kept, "") {
		t.Errorf("made up at first and later: %d, %d secrets, or others", len(made), len(kept))
	}

	given, stop := platformOnly(t, map[string]string{"APP_SLUG": "crm", "PLATFORM_API_KEY": "given-key", "WEBHOOK_SECRET": "given-secret"}, "--data", data, "--reset")
	stop()
	if strings.Contains(given, "given-key") || strings.Contains(given, "given-secret") || !strings.Contains(given, "APP_SLUG=crm") {
		t.Errorf("with secrets of the environment:\n%s", given)
	}
}

func TestConformance_TellsAWrongCall(t *testing.T) {
	t.Parallel()
	err := dev.Conformance(t.Context(), fixture.Product(), nil, func(string) (string, bool) { return "", false }, new(strings.Builder))
	if !errors.Is(err, server.ErrUsage) || !errors.Is(err, conformance.ErrUsage) {
		t.Errorf("%v, want ErrUsage of both", err)
	}
}
