//go:build linux || darwin

package localpg

import (
	"os"
	"syscall"
	"testing"
)

func TestParentDies(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"kill", "exit", "panic"} {
		for _, where := range []string{"temporary", "kept"} {
			t.Run(how+" "+where, func(t *testing.T) {
				t.Parallel()
				var p part
				if where == "kept" {
					p.DataDir = dataDir(t)
				}
				c := mustStart(t, self(), p)
				connect(t, c.URL)
				if how == "kill" {
					_ = c.kill()
				} else {
					c.end(t, how)
				}
				mustVanish(t, c.SocketDir)
				if exists(c.DataDir) != (where == "kept") {
					t.Errorf("%s is there: %v", c.DataDir, exists(c.DataDir))
				}
			})
		}
	}
}

// A process that the parent leaves behind must not keep postgres alive with what it inherited.
func TestParentDiesBeforeItsOtherChildren(t *testing.T) {
	t.Parallel()
	c := mustStart(t, self(), part{LeaveBehind: true})
	defer func() { _ = syscall.Kill(c.LeftBehind, syscall.SIGKILL) }()
	_ = c.kill()
	mustVanish(t, c.SocketDir)
	if !alive(c.LeftBehind) {
		t.Error("the process that was left behind has gone too: nothing was tested")
	}
}

func TestOutOfReachOfTheTerminal(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	group, err := syscall.Getpgid(s.Pid())
	if err != nil {
		t.Fatal(err)
	}
	if ours := syscall.Getpgrp(); group == ours {
		t.Errorf("postgres is in our process group %d: Ctrl-C would reach it", ours)
	}
}

func TestGuardKilled(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	if err := syscall.Kill(parentOf(t, s.Pid()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if err := s.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if os.Getpid() == parentOf(t, s.Pid()) {
		t.Error("postgres runs without a guard")
	}
}
