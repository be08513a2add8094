//go:build linux || darwin

package localpg

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestHaltAndResume(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	execute(t, s.URL("postgres"), "CREATE TABLE kept (n int)")
	conn := connect(t, s.URL("postgres"))
	for _, mode := range []string{"immediate", "fast"} {
		done, pid := s.Done(), s.Pid()
		if err := s.Halt(t.Context(), mode); err != nil {
			t.Fatal(err)
		}
		<-done
		if s.Pid() != 0 || conn.Ping(t.Context()) == nil {
			t.Errorf("%s: postgres still runs as %d", mode, s.Pid())
		}
		if err := s.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.Pid() == pid || s.Pid() == 0 {
			t.Errorf("%s: got process %d after %d", mode, s.Pid(), pid)
		}
		conn = connect(t, s.URL("postgres"))
		if got := ask(t, s.URL("postgres"), "SELECT count(*) FROM kept"); got != "0" {
			t.Errorf("%s: got %s", mode, got)
		}
	}
}

func TestSmartHaltWaitsForClients(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	conn := connect(t, s.URL("postgres"))
	halted := make(chan error)
	go func() { halted <- s.Halt(t.Context(), "smart") }()
	eventually(t, "no new client is let in", func() bool {
		other, err := pgx.Connect(t.Context(), s.URL("postgres"))
		if err == nil {
			_ = other.Close(t.Context())
		}
		return err != nil
	})
	if err := conn.Ping(t.Context()); err != nil {
		t.Errorf("the client was sent away: %v", err)
	}
	_ = conn.Close(t.Context())
	if err := <-halted; err != nil {
		t.Error(err)
	}
}

func TestHaltEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	connect(t, s.URL("postgres"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Halt(ctx, "smart"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := s.Halt(t.Context(), "gentle"); err == nil {
		t.Error("an unknown mode is taken")
	}
}

func TestPostgresKilled(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	execute(t, s.URL("postgres"), "CREATE TABLE kept (n int)")
	pid := s.Pid()
	guard := parentOf(t, pid)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	eventually(t, "the guard is reaped", func() bool { return !alive(guard) && !alive(pid) })
	if !exists(s.SocketDir()) {
		t.Error("what Resume needs is gone")
	}
	if err := s.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, s.URL("postgres"), "SELECT count(*) FROM kept"); got != "0" {
		t.Errorf("got %s", got)
	}
}

func TestStopAfterHalt(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	if err := s.Halt(t.Context(), "fast"); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.SocketDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
