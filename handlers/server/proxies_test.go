package server_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startHAProxy starts HAProxy on ops/haproxy.cfg as it stands there, but for the
// addresses, for an interval of which two are the lag, and for what would hide a
// replica that is gone too early: no connection is tried again. It returns its own
// address. The test is skipped where HAProxy is not installed, but not in CI.
func startHAProxy(t *testing.T, addresses []string, lag time.Duration) string {
	t.Helper()
	program := findHAProxy(t)
	config := readOps(t, "haproxy.cfg")
	for old, instead := range map[string]string{
		"bind :80 ": "bind fd@3 ", "inter 2s fall 2 ": "inter " + (lag / 2).String() + " fall 2 ", "option redispatch ": "retries 0 ",
		"app-1:8080": addresses[0], "app-2:8080": addresses[1], "app-3:8080": addresses[2],
	} {
		if strings.Count(config, old) != 1 {
			t.Fatalf("haproxy.cfg does not have %q once", old)
		}
		config = strings.Replace(config, old, instead, 1)
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return runListening(t, program, "-db", "-f", file)
}

// findHAProxy also looks where Debian puts servers: not in everybody's PATH.
func findHAProxy(t *testing.T) string {
	t.Helper()
	for _, candidate := range []string{"haproxy", "/usr/sbin/haproxy"} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	const missing = "HAProxy is not installed (Debian: apt-get install haproxy)"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// runListening runs a program that serves what listens as its descriptor 3, and
// returns that address. A shell ends it when this process has ended, however that
// comes about: its standard input ends then.
func runListening(t *testing.T, program string, args ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	socket, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	command := exec.Command("/bin/sh", append([]string{"-c", `"$@" & cat >/dev/null; kill $!; wait $!`, "sh", program}, args...)...)
	command.ExtraFiles = []*os.File{socket}
	var said strings.Builder
	command.Stdout, command.Stderr = &said, &said
	stdin, err := command.StdinPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", program, said.String())
		}
	})
	return l.Addr().String()
}
