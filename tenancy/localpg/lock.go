package localpg

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// grace is for copies of the lock in a process that is just being killed, and in
// children of ours between fork and exec.
const grace = 200 * time.Millisecond

// own takes the lock that says which process base belongs to. All processes of
// postgres inherit it: when they outlive their owner, own shuts them down.
func (s *Server) own(ctx context.Context) (err error) {
	if s.lock, err = os.OpenFile(filepath.Join(s.base, "owner.lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	for began := time.Now(); tryLock(s.lock) != nil; time.Sleep(10 * time.Millisecond) {
		waited := time.Since(began)
		if waited > 30*time.Second {
			return fmt.Errorf("postgres runs on %s without its parent process, and does not end", s.base)
		}
		if waited > grace {
			if err := s.endOrphan(ctx); err != nil {
				return err
			}
		}
	}
	if _, err := fmt.Fprintf(s.lock, "%10d", os.Getpid()); err != nil {
		return err
	}
	return s.dropStale()
}

// endOrphan returns ErrInUse when the lock's owner lives. Else it shuts its
// postgres down.
func (s *Server) endOrphan(ctx context.Context) error {
	text, _ := os.ReadFile(s.lock.Name())
	owner, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if alive(owner) {
		return fmt.Errorf("%w: process %d runs postgres on %s", ErrInUse, owner, s.base)
	}
	_ = s.account.command(ctx, s.program("pg_ctl"), "stop", "-D", s.cluster(), "-m", "fast", "-t", "1").Run()
	return context.Cause(ctx)
}

// dropStale removes the pid file that would keep postgres from starting after it
// was killed: while we have the lock no postgres of ours runs, so that a living
// process only got its number later. A dead one's file is left, for postgres
// finds its shared memory by it.
func (s *Server) dropStale() error {
	file := filepath.Join(s.cluster(), "postmaster.pid")
	content, _ := os.ReadFile(file)
	lines := strings.Split(string(content), "\n")
	pid, _ := strconv.Atoi(lines[0])
	ours := len(lines) > 4 && strings.HasPrefix(lines[4], tempPrefix) // the socket's directory
	if !ours || !alive(pid) {
		return nil
	}
	return os.Remove(file)
}
