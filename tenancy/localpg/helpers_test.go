package localpg

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// childEnv makes this test binary a program that starts a server on the directory
// it names, "" for a temporary one, leaves a process behind, tells about both on
// standard output and ends in the way that standard input names.
const childEnv = "LOCALPG_TEST_CHILD"

// report is what a child tells.
type report struct {
	URL, Scratch, Base, Failure string
	LeftBehind                  int
}

func TestMain(m *testing.M) {
	if dir, set := os.LookupEnv(childEnv); set {
		play(dir)
	}
	os.Exit(m.Run())
}

func play(dir string) {
	var r report
	s, err := Start(context.Background(), Options{DataDir: dir, Fast: true})
	if err != nil {
		r.Failure = err.Error()
	} else {
		r.URL, r.Scratch, r.Base = s.URL("postgres"), s.scratch, s.base
	}
	sleep := exec.Command("sleep", "3600")
	if err := sleep.Start(); err != nil {
		panic(err)
	}
	r.LeftBehind = sleep.Process.Pid
	_ = json.NewEncoder(os.Stdout).Encode(r)
	var order string
	_, _ = fmt.Scanln(&order)
	if order == "panic" {
		go panic("as ordered")
		select {}
	}
	os.Exit(0)
}

type child struct {
	report

	command *exec.Cmd
	orders  io.WriteCloser
	answers io.Reader
}

// beginChild starts a child as the user a, with env added to its environment.
func beginChild(t *testing.T, a account, dir string, env ...string) *child {
	t.Helper()
	c := &child{command: exec.Command(program(t))}
	c.command.Dir = "/"
	c.command.Env = append(append(os.Environ(), childEnv+"="+dir), env...)
	c.command.SysProcAttr = attributes(a)
	var err error
	if c.orders, err = c.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if c.answers, err = c.command.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c
}

// startChild begins a child and waits for its server.
func startChild(t *testing.T, a account, dir string, env ...string) *child {
	t.Helper()
	c := beginChild(t, a, dir, env...)
	if err := json.NewDecoder(c.answers).Decode(&c.report); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p, err := os.FindProcess(c.LeftBehind); err == nil {
			_ = p.Kill()
		}
		c.kill()
		if c.Scratch != "" {
			mustVanish(t, c.Scratch)
		}
	})
	if c.Failure != "" {
		t.Fatal(c.Failure)
	}
	return c
}

// kill is kill -9.
func (c *child) kill() { _, _ = c.command.Process.Kill(), c.command.Wait() }

// program is this test binary, where every user can run it.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := openDir(t)
	if out, err := exec.Command("cp", self, filepath.Join(dir, "program")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "program")
}

// serve starts a server that ends with the test.
func serve(t *testing.T, o Options) *Server {
	t.Helper()
	o.Fast = true
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

// openDir is a directory that every user can enter and write to, unlike t.TempDir.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "test-localpg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// query executes sql and returns the first value of its last row, as text.
func query(t *testing.T, conn *pgx.Conn, sql string) (value string) {
	t.Helper()
	results, err := conn.PgConn().Exec(t.Context(), sql).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range results {
		for _, row := range result.Rows {
			value = string(row[0])
		}
	}
	return value
}

// connect returns a connection that stays open until the end of the test.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
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

// processes are the living processes whose command line contains all the words.
func processes(words ...string) (pids []int) {
	out, _ := exec.Command("ps", "-ww", "-e", "-o", "pid=,stat=,args=").Output()
	for line := range strings.Lines(string(out)) {
		var pid int
		var state string
		_, _ = fmt.Sscan(line, &pid, &state)
		missing := func(word string) bool { return !strings.Contains(line, word) }
		if !strings.HasPrefix(state, "Z") && !slices.ContainsFunc(words, missing) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// mustVanish waits until no process and no file of a server with this directory
// is left.
func mustVanish(t *testing.T, scratch string) {
	t.Helper()
	eventually(t, "nothing is left of "+scratch, func() bool { return !exists(scratch) && processes(scratch) == nil })
}
