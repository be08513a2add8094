package conformance_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/conformance"
)

// startPython runs the sub-product of testdata against a platform.
func startPython(t *testing.T, platform string, args ...string) (url string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	command := exec.Command(python, append([]string{"testdata/product.py"}, args...)...)
	command.Env = append(os.Environ(), "PLATFORM_URL="+platform, "PLATFORM_BASE_URL="+platform, "no_proxy=*")
	for _, name := range []string{"APP_SLUG", "PLATFORM_API_KEY", "WEBHOOK_SECRET"} {
		value, _ := environment(name)
		command.Env = append(command.Env, name+"="+value)
	}
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://127.0.0.1:" + strings.TrimSpace(port)
}

// A sub-product that is not ours, and not in Go: what it does right passes,
// what it has not is skipped, and what it does wrong is found.
func TestConformance_ProductInPython(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args, broken []string
		err          error
	}{
		"correct":  {nil, nil, nil},
		"careless": {[]string{"--careless"}, []string{"status-not-allowed", "raw-body", "signature-reserialised", "cancel-ends-sessions"}, conformance.ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, platform := listen(t)
			url := startPython(t, platform, c.args...)
			j := judge(t, l, url, "--webhook-path", "/hooks", "--health-path", "/health", "--callback-path", "/callback",
				"--session-path", "/me", "--write-path", "")
			if got := j.verdicts(conformance.Fail); !slices.Equal(got, c.broken) || !errors.Is(j.err, c.err) {
				t.Errorf("%v; broken are %s, want %s\n%s", j.err, got, c.broken, j.seen())
			}
			if got := j.verdicts(conformance.Skip); !slices.Contains(got, "tenants-data") || len(got) > 3 {
				t.Errorf("skipped were %s", got)
			}
		})
	}
}
