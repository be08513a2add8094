package localpg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// childEnv makes this test binary a program that starts a server, as its JSON says, tells about it on standard output and
// ends in the way that a line on standard input names.
const childEnv = "LOCALPG_TEST_CHILD"

type part struct {
	DataDir     string
	LeaveBehind bool // starts a process that outlives it
}

type report struct {
	URL, SocketDir, DataDir, Failure string
	Pid, LeftBehind                  int
}

func TestMain(m *testing.M) {
	if text, set := os.LookupEnv(childEnv); set {
		play(text)
	}
	temp, err := openTemp()
	if err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(temp)
	os.Exit(code)
}

// openTemp makes a directory for temporary files, open to every user, so that all that the tests leave can be removed.
func openTemp() (string, error) {
	dir, err := os.MkdirTemp("/tmp", "localpg-test-")
	if err != nil {
		return "", err
	}
	return dir, errors.Join(os.Chmod(dir, 0o777|os.ModeSticky), os.Setenv("TMPDIR", dir))
}

func play(text string) {
	var p part
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		panic(err)
	}
	s, err := Start(context.Background(), Options{DataDir: p.DataDir, Fast: true})
	var r report
	if err != nil {
		r.Failure = err.Error()
	} else {
		r.URL, r.SocketDir, r.DataDir, r.Pid = s.URL("postgres"), s.SocketDir(), s.DataDir(), s.Pid()
	}
	if p.LeaveBehind {
		sleep := exec.Command("sleep", "3600")
		if err := sleep.Start(); err != nil {
			panic(err)
		}
		r.LeftBehind = sleep.Process.Pid
	}
	_ = json.NewEncoder(os.Stdout).Encode(r)
	var order string
	_, _ = fmt.Scanln(&order)
	switch {
	case order == "panic":
		go panic("as ordered")
		select {}
	case order == "stop" && s.Stop() == nil:
		os.Exit(0)
	}
	os.Exit(1)
}

// child is such a program.
type child struct {
	report

	command *exec.Cmd
	orders  io.WriteCloser
	answers io.Reader
}

// beginChild starts a program as the user a, with env added to its environment. It is killed at the end of the test.
func beginChild(t *testing.T, a account, p part, env ...string) *child {
	t.Helper()
	program, err := program()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	c := &child{command: exec.Command(program)}
	c.command.Dir = "/"
	c.command.Env = append(append(os.Environ(), childEnv+"="+string(text)), env...)
	c.command.SysProcAttr = attributes(a)
	if c.orders, err = c.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if c.answers, err = c.command.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.kill()
		if c.SocketDir != "" {
			mustVanish(t, c.SocketDir)
		}
	})
	return c
}

// mustStart begins a child and waits for its server.
func mustStart(t *testing.T, a account, p part, env ...string) *child {
	t.Helper()
	c := beginChild(t, a, p, env...)
	if err := json.NewDecoder(c.answers).Decode(&c.report); err != nil {
		t.Fatal(err)
	}
	if c.Failure != "" {
		t.Fatal(c.Failure)
	}
	return c
}

// kill is kill -9.
func (c *child) kill() error { return errors.Join(c.command.Process.Kill(), c.command.Wait()) }

// end has the child end in a way of its own.
func (c *child) end(t *testing.T, how string) {
	t.Helper()
	if _, err := fmt.Fprintln(c.orders, how); err != nil {
		t.Fatal(err)
	}
	_ = c.command.Wait()
}

// program is this test binary, where every user can run it.
var program = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "program-")
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(self)
	copied := filepath.Join(dir, "program")
	return copied, errors.Join(err, os.Chmod(dir, 0o755), os.WriteFile(copied, content, 0o755))
})
