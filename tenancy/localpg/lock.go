package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

var errLocked = errors.New("locked by another process")

// own takes the lock that says which living process the data directory belongs to. The system lets it go when that ends.
func own(path string) (*os.File, error) {
	f, err := lockFile(path)
	if errors.Is(err, errLocked) {
		return nil, fmt.Errorf("%w: another process runs postgres on %s", ErrInUse, filepath.Dir(path))
	}
	return f, err
}

// disown lets the lock go even where a child, forked but not yet executing its program, has a copy of the file.
func disown(f *os.File) error {
	if f == nil {
		return nil
	}
	return errors.Join(unlock(f), f.Close())
}

func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// takeOver returns the lock that every process of postgres holds while it lives. We own the directory, so whoever still
// has that lock lost its parent: it is told to end, and waited for.
func (s *Server) takeOver(ctx context.Context) (*os.File, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errors.New("the postgres of a process that has died does not end"))
	defer cancel()
	for {
		lock, err := lockFile(filepath.Join(s.base, "running.lock"))
		if err == nil {
			return lock, s.dropStale(lock)
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

func (s *Server) endOrphan(waited time.Duration) {
	clusters, _ := filepath.Glob(filepath.Join(s.base, "pg*"))
	for _, cluster := range clusters {
		if waited < 5*time.Second {
			signalPostmaster(cluster, interrupt)
		} else {
			signalPostmaster(cluster, quit)
		}
	}
}

// dropStale removes what a killed postgres leaves behind: should its process id have gone to another process, postgres
// would refuse to start.
func (s *Server) dropStale(lock *os.File) error {
	if pid, _ := postmaster(s.cluster()); pid != 0 && runsOn(pid, s.cluster()) {
		return errors.Join(fmt.Errorf("%w: postgres with process id %d, started by other means, runs on %s", ErrInUse, pid, s.cluster()), lock.Close())
	}
	socket := filepath.Join(s.scratch, ".s.PGSQL."+port)
	for _, stale := range []string{pidFile(s.cluster()), socket, socket + ".lock"} {
		if err := os.Remove(stale); err != nil && !errors.Is(err, os.ErrNotExist) {
			return errors.Join(err, lock.Close())
		}
	}
	return nil
}

// signalPostmaster signals the postgres that runs on cluster, if there is one.
func signalPostmaster(cluster string, signal os.Signal) {
	pid, _ := postmaster(cluster)
	if pid == 0 || !runsOn(pid, cluster) {
		return
	}
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Signal(signal)
	}
}

// runsOn tells whether the process is a postgres on this cluster, by its command line.
func runsOn(pid int, cluster string) bool {
	id := strconv.Itoa(pid)
	line, err := os.ReadFile(filepath.Join("/proc", id, "cmdline"))
	if err != nil {
		line, _ = exec.Command("ps", "-ww", "-o", "args=", "-p", id).Output()
	}
	words := strings.ReplaceAll(string(line), "\x00", " ")
	return strings.Contains(words+" ", " "+cluster+" ")
}
