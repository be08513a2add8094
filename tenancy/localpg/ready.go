package localpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// waitReady returns when postgres accepts connections, and sets r.pid.
func (r *run) waitReady(ctx context.Context, cluster string) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if pid, status := postmaster(cluster); status == "ready" {
			r.pid = pid
			return nil
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

// postmaster reads the pid file: the process id in its first line, the status in its eighth. 0 when there is none.
func postmaster(cluster string) (pid int, status string) {
	content, err := os.ReadFile(pidFile(cluster))
	if err != nil {
		return 0, ""
	}
	lines := strings.Split(string(content), "\n")
	pid, err = strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 1 {
		return 0, ""
	}
	if len(lines) > 7 {
		status = strings.TrimSpace(lines[7])
	}
	return pid, status
}

// truncate empties the log, so that it holds one life of the server.
func truncate(log string) error {
	f, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// tail is the end of the log, for an error.
func tail(log string) string {
	f, err := os.Open(log)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil {
		_, _ = f.Seek(max(0, info.Size()-4096), io.SeekStart)
	}
	content, _ := io.ReadAll(f)
	lines := bytes.Split(bytes.TrimSpace(content), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-15):], []byte("\n")))
}
