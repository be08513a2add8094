package localpg

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func TestWatchdog_ParentDies(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"kill", "exit", "panic"} {
		for _, kept := range []bool{false, true} {
			t.Run(fmt.Sprint(how, " kept=", kept), func(t *testing.T) {
				t.Parallel()
				dir := ""
				if kept {
					dir = openDir(t)
				}
				c := startChild(t, account{}, dir)
				connect(t, c.URL)
				if how != "kill" {
					fmt.Fprintln(c.orders, how)
					_ = c.command.Wait()
				}
				c.kill()
				mustVanish(t, c.Scratch)
				if exists(c.Base) != kept {
					t.Errorf("%s is there: %v", c.Base, !kept)
				}
				if !alive(c.LeftBehind) { // what the parent left behind must not hold postgres
					t.Error("the process that was left behind has gone too: not all was tested")
				}
			})
		}
	}
}

// Ctrl-C goes to all processes of the terminal's session.
func TestWatchdog_OutOfReachOfTheTerminal(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	sessions := func(pid int) string {
		out, _ := exec.Command("ps", "-o", "pgid=", "-p", strconv.Itoa(pid)).Output()
		return strings.TrimSpace(string(out))
	}
	own := processes(s.scratch)
	if len(own) < 2 {
		t.Fatalf("got processes %v, want the watchdog and postgres", own)
	}
	for _, pid := range own {
		if strconv.Itoa(pid) != sessions(pid) {
			t.Errorf("process %d is in group %s", pid, sessions(pid))
		}
	}
}

func TestStop_WithoutItsWatchdog(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	signalTo(t, s.watchdog.command.Process.Pid, "KILL")
	stop(t, s)
	if left := processes(s.scratch); left != nil || exists(s.scratch) {
		t.Errorf("after Stop there still are %s and %v", s.scratch, left)
	}
}
