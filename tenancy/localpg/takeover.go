package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// takeOver returns the lock that every process of initdb and postgres holds while it lives. The directory is ours, so
// whoever still has that lock has lost its parent: it is told to end, and waited for.
func (s *Server) takeOver(ctx context.Context) (*os.File, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errors.New("the postgres of a process that has died does not end"))
	defer cancel()
	for {
		lock, err := lockFile(filepath.Join(s.base, "running.lock"))
		if err == nil {
			if err := s.dropStale(); err != nil {
				return nil, errors.Join(err, lock.Close())
			}
			return lock, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, err
		}
		s.endOrphan(time.Since(began))
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("take over %s: %w", s.base, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// endOrphan shuts down the postgres of whatever version that runs in our directory.
func (s *Server) endOrphan(waited time.Duration) {
	signal := os.Signal(interrupt)
	if waited > 5*time.Second {
		signal = quit
	}
	clusters, _ := filepath.Glob(filepath.Join(s.base, "pg*"))
	for _, cluster := range clusters {
		signalPostmaster(cluster, signal)
	}
}

// dropStale removes what would keep postgres from starting after it was killed: a process id that has gone to another
// process. A pid file of no process at all is left to postgres, which finds its shared memory by it.
func (s *Server) dropStale() error {
	pid, _ := parsePidFile(readPidFile(s.cluster()))
	if runsOn(pid, s.cluster()) {
		return fmt.Errorf("%w: process %d, which was started by other means, runs postgres on %s", ErrInUse, pid, s.cluster())
	}
	socket := filepath.Join(s.scratch, ".s.PGSQL."+port)
	stale := []string{socket, socket + ".lock"}
	if pid != 0 && alive(pid) {
		stale = append(stale, pidFile(s.cluster()))
	}
	for _, path := range stale {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// signalPostmaster signals the postgres that runs on cluster, if there is one.
func signalPostmaster(cluster string, signal os.Signal) {
	pid, _ := parsePidFile(readPidFile(cluster))
	if !runsOn(pid, cluster) {
		return
	}
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Signal(signal)
	}
}

var postmasterCommand = regexp.MustCompile(`^([^ ].*/)?(postgres|postmaster)( |$)`)

// runsOn tells whether the process is a postmaster on this cluster. One that does not say on which counts as one.
func runsOn(pid int, cluster string) bool {
	if pid == 0 {
		return false
	}
	line := commandLine(pid)
	if !postmasterCommand.MatchString(line) {
		return false
	}
	_, directory, says := strings.Cut(line, " -D ")
	return !says || strings.HasPrefix(directory+" ", cluster+" ")
}

// commandLine is a process's program and arguments, joined by spaces; "" when there is no such process.
func commandLine(pid int) string {
	id := strconv.Itoa(pid)
	line, err := os.ReadFile(filepath.Join("/proc", id, "cmdline"))
	if err != nil {
		line, _ = exec.Command("ps", "-ww", "-o", "args=", "-p", id).Output()
	}
	return strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
}
