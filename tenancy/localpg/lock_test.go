package localpg

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestStart_InUse(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	c := startChild(t, account{}, dir)
	began := time.Now()
	if _, err := Start(t.Context(), Options{DataDir: filepath.Join(dir, ".")}); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s to say so", took)
	}
	if got := query(t, connect(t, c.URL), "SELECT 1"); got != "1" {
		t.Errorf("the first server suffered: got %s", got)
	}
}

// One of many wins, and each that comes after a stop.
func TestStart_AtTheSameTime(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	servers := make([]*Server, 3)
	var starts sync.WaitGroup
	for i := range servers {
		starts.Go(func() {
			var err error
			if servers[i], err = Start(t.Context(), Options{DataDir: dir, Fast: true}); err != nil && !errors.Is(err, ErrInUse) {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	started := 0
	for _, s := range servers {
		if s != nil {
			started++
			stop(t, s)
		}
	}
	if started != 1 {
		t.Errorf("%d of %d started", started, len(servers))
	}
	serve(t, Options{DataDir: dir})
}

// The next owner waits until the last process has ended. A stopped backend ends
// late.
func TestStart_AfterAKill(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	c := startChild(t, account{}, dir)
	conn := connect(t, c.URL)
	query(t, conn, "CREATE TABLE kept (n int)")
	backend := mustInt(t, query(t, conn, "SELECT pg_backend_pid()"))
	signalTo(t, backend, "STOP")
	c.kill()
	s := serve(t, Options{DataDir: dir})
	if got := query(t, connect(t, s.URL("postgres")), "SELECT count(*) FROM kept"); got != "0" || alive(backend) {
		t.Errorf("got %s rows, and the old backend lives: %v", got, alive(backend))
	}
	mustVanish(t, c.Scratch)
}

// Also the watchdog can be killed.
func TestStart_TakesOverFromAnOrphan(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	c := startChild(t, account{}, dir)
	conn := connect(t, c.URL)
	query(t, conn, "CREATE TABLE kept (n int)")
	for _, pid := range processes(c.Scratch, "/bin/sh") {
		signalTo(t, pid, "KILL")
	}
	c.kill()
	if err := conn.Ping(t.Context()); err != nil {
		t.Fatal("the orphan has ended already: nothing is tested")
	}
	s := serve(t, Options{DataDir: dir})
	if got := query(t, connect(t, s.URL("postgres")), "SELECT count(*) FROM kept"); got != "0" {
		t.Errorf("got %s", got)
	}
	eventually(t, "the orphan has ended", func() bool { return processes(c.Scratch) == nil })
	_ = os.RemoveAll(c.Scratch)
}

func TestStart_StalePidFile(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	s := serve(t, Options{DataDir: dir})
	file := filepath.Join(s.cluster(), "postmaster.pid")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(content), "\n")
	stop(t, s)
	// A living process of postgres's own user, for postgres does not mind another
	// user's.
	stranger := s.account.command(t.Context(), "sleep", "3600")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	for what, pid := range map[string]int{"stranger's": stranger.Process.Pid, "dead process's": ended.Process.Pid} {
		if err := os.WriteFile(file, []byte(strconv.Itoa(pid)+"\n"+rest), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.account.give(file); err != nil {
			t.Fatal(err)
		}
		again, err := Start(t.Context(), Options{DataDir: dir, Fast: true})
		if err != nil {
			t.Fatalf("with a %s id: %v", what, err)
		}
		stop(t, again)
	}
	if !alive(stranger.Process.Pid) {
		t.Error("the stranger was ended")
	}
}

// Killed at any moment of initdb, a program leaves nothing that keeps the next
// one from its work.
func TestStart_KilledDuringInitdb(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	for _, moment := range []string{"", "base", "global/pg_control", "base/4"} {
		half := filepath.Join(dir, "postgres", "half-made")
		eventually(t, "an earlier initdb has ended", func() bool { return processes(half) == nil })
		if err := os.RemoveAll(half); err != nil {
			t.Fatal(err)
		}
		c := beginChild(t, account{}, dir)
		eventually(t, "half a cluster is there", func() bool { return exists(filepath.Join(half, moment)) })
		c.kill()
		if clusters, _ := filepath.Glob(filepath.Join(dir, "postgres", "pg*")); clusters != nil {
			t.Errorf("%s: there is a cluster %q already", moment, clusters)
		}
	}
	s := serve(t, Options{DataDir: dir})
	if got := query(t, connect(t, s.URL("postgres")), "SELECT 1"); got != "1" {
		t.Errorf("got %s", got)
	}
}

func signalTo(t *testing.T, pid int, name string) {
	t.Helper()
	if out, err := exec.Command("/bin/kill", "-s", name, strconv.Itoa(pid)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func mustInt(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
