package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// waitReady returns when postgres accepts connections. stale is the pid file's content from before the start: a killed
// postgres leaves one that says "ready".
func (r *run) waitReady(ctx context.Context, cluster, stale string) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if content := readPidFile(cluster); content != stale {
			if pid, status := parsePidFile(content); status == "ready" {
				r.pid.Store(int64(pid))
				return nil
			}
		}
		select {
		case <-r.done:
			return errors.New("postgres ended while starting")
		case <-ctx.Done():
			return fmt.Errorf("wait for postgres: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
}

func pidFile(cluster string) string { return filepath.Join(cluster, "postmaster.pid") }

// readPidFile returns "" when there is none.
func readPidFile(cluster string) string {
	content, err := os.ReadFile(pidFile(cluster))
	if err != nil {
		return ""
	}
	return string(content)
}

// parsePidFile returns the process id, in the first line, and the status, in the eighth; 0 when there is no process id.
func parsePidFile(content string) (pid int, status string) {
	lines := strings.Split(content, "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 1 {
		return 0, ""
	}
	if len(lines) > 7 {
		status = strings.TrimSpace(lines[7])
	}
	return pid, status
}
