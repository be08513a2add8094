//go:build !production

package dev_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/subproduct/handlers/dev"
	"example.com/subproduct/handlers/handlertest/fixture"
	"example.com/subproduct/tenancy/commands/flags"
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

// simulatorAnswers are the pages and the state of a simulator that has printed
// its address.
func simulatorAnswers(t *testing.T, printed string) (text string) {
	t.Helper()
	address := regexp.MustCompile(`PLATFORM_BASE_URL=(\S+)`).FindStringSubmatch(printed)[1]
	for _, path := range []string{"/", "/product", "/_sim/state", "/docs", "/health"} {
		response, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, %v", path, response.StatusCode, err)
		}
		text += string(body)
	}
	return text
}

// A name that somebody else may have made point here is not answered to, unless
// it is said to be the simulator's.
func TestPlatformOnly_IsNotReachedByOtherNames(t *testing.T) {
	t.Parallel()
	printed, stop := platformOnly(t, nil, "--data", t.TempDir(), "--platform-url", "http://platform:8090")
	defer stop()
	if !strings.Contains(printed, "PLATFORM_BASE_URL=http://platform:8090\n") {
		t.Errorf("no other address in\n%s", printed)
	}
	listener := regexp.MustCompile(`listens on ([^)\s]+)`).FindStringSubmatch(printed)
	if listener == nil {
		t.Fatalf("where it listens is not in\n%s", printed)
	}
	for host, want := range map[string]int{"platform:8090": 200, "localhost": 200, "rebound": 421, "rebound.internal": 421, "evil.example": 421} {
		request, err := http.NewRequest(http.MethodGet, "http://"+listener[1]+"/product", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, response.StatusCode, want)
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
	answered := simulatorAnswers(t, given)
	stop()
	if strings.Contains(answered, "given-key") || strings.Contains(answered, "given-secret") {
		t.Errorf("the console shows the secrets of the environment:\n%s", answered)
	}
	if strings.Contains(given, "given-key") || strings.Contains(given, "given-secret") || !strings.Contains(given, "APP_SLUG=crm") {
		t.Errorf("with secrets of the environment:\n%s", given)
	}
}

func TestConformance_TellsAWrongCall(t *testing.T) {
	t.Parallel()
	err := dev.Conformance(t.Context(), fixture.Product(), nil, func(string) (string, bool) { return "", false }, new(strings.Builder))
	if !errors.Is(err, flags.ErrUsage) {
		t.Errorf("%v, want ErrUsage", err)
	}
}
