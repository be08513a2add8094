package localpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// serve starts a server that ends with the test.
func serve(t *testing.T, o Options) *Server {
	t.Helper()
	o.Fast = true
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// self is the user that runs the tests.
func self() account { return account{uid: os.Geteuid(), gid: os.Getegid()} }

// dataDir is a directory that every user can enter, unlike t.TempDir.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "data-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// connect returns a connection that is closed at the end of the test.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	if _, err := connect(t, url).Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// ask returns the only value of a query, as text.
func ask(t *testing.T, url, sql string) string {
	t.Helper()
	var value any
	if err := connect(t, url).QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(value)
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 seconds: %s", what)
		}
	}
}

// processes are the processes, except for dead ones that wait for init, whose command line contains text.
func processes(text string) (found []string) {
	out, _ := exec.Command("ps", "-ww", "-e", "-o", "pid=,ppid=,stat=,args=").Output()
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[2][0] != 'Z' && strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// mustVanish waits until no process and no file of a server with this socket directory is left.
func mustVanish(t *testing.T, socketDir string) {
	t.Helper()
	eventually(t, "no process is left of "+socketDir, func() bool { return len(processes(socketDir)) == 0 })
	eventually(t, socketDir+" is removed", func() bool { return !exists(socketDir) })
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	parent, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return parent
}
