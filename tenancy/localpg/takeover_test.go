//go:build linux || darwin

package localpg

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestTakesOverFromTheDead(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	c := mustStart(t, self(), part{DataDir: dir})
	execute(t, c.URL, "CREATE TABLE kept (n int)")
	backend, err := strconv.Atoi(ask(t, c.URL, "SELECT pg_backend_pid()"))
	if err != nil {
		t.Fatal(err)
	}
	// With a client's process stopped, the shutdown takes as long as we want it to.
	if err := syscall.Kill(backend, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_ = c.kill()
	started := make(chan error)
	var s *Server
	go func() {
		var err error
		s, err = Start(t.Context(), Options{DataDir: dir, Fast: true})
		started <- err
	}()
	clusters, err := filepath.Glob(filepath.Join(dir, "pg*"))
	if err != nil || len(clusters) != 1 {
		t.Fatalf("got %q %v", clusters, err)
	}
	eventually(t, "the old postgres is stopping", func() bool {
		_, status := parsePidFile(readPidFile(clusters[0]))
		return status == "stopping"
	})
	if err := syscall.Kill(backend, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	if got := ask(t, s.URL("postgres"), "SELECT count(*) FROM kept"); got != "0" {
		t.Errorf("got %s", got)
	}
	mustVanish(t, c.SocketDir)
}

// Even the guard can be killed, and its parent before it could do anything about that.
func TestTakesOverFromAnOrphan(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	c := mustStart(t, self(), part{DataDir: dir})
	execute(t, c.URL, "CREATE TABLE kept (n int)")
	if err := c.command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(parentOf(t, c.Pid), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = c.kill()
	if got := ask(t, c.URL, "SELECT 1"); got != "1" {
		t.Fatal("the orphan has ended already: nothing is tested")
	}
	s := serve(t, Options{DataDir: dir})
	if got := ask(t, s.URL("postgres"), "SELECT count(*) FROM kept"); got != "0" {
		t.Errorf("got %s", got)
	}
	mustVanish(t, c.SocketDir)
}

func TestStalePidFile(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := serve(t, Options{DataDir: dir})
	file := pidFile(s.cluster())
	_, rest, _ := strings.Cut(readPidFile(s.cluster()), "\n")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	for what, pid := range map[string]int{"a stranger's": os.Getppid(), "nobody's": deadProcess(t)} {
		if err := os.WriteFile(file, []byte(strconv.Itoa(pid)+"\n"+rest), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.postgres.account.give(file); err != nil {
			t.Fatal(err)
		}
		again, err := Start(t.Context(), Options{DataDir: dir, Fast: true})
		if err != nil {
			t.Fatalf("with %s process id: %v", what, err)
		}
		if err := again.Stop(); err != nil {
			t.Error(err)
		}
	}
}

func TestRunsOn(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	tests := map[string]struct {
		pid     int
		cluster string
		want    bool
	}{
		"itself":          {s.Pid(), s.cluster(), true},
		"another cluster": {s.Pid(), s.cluster() + "0", false},
		"another program": {os.Getpid(), s.cluster(), false},
		"its guard":       {parentOf(t, s.Pid()), s.cluster(), false},
		"no process":      {deadProcess(t), s.cluster(), false},
		"no id":           {0, s.cluster(), false},
	}
	for name, test := range tests {
		if got := runsOn(test.pid, test.cluster); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// deadProcess is the id of a process that has been.
func deadProcess(t *testing.T) int {
	t.Helper()
	c := exec.Command("true")
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	return c.Process.Pid
}
