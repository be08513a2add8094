//go:build !production

package dev

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// endWithGoRun ends the returned context when `go run`, our parent, is gone: it
// does not pass SIGTERM on, and would leave everything behind. A program that
// was built may outlive whoever started it.
func endWithGoRun(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	name, err := exec.CommandContext(ctx, "ps", "-o", "comm=", "-p", strconv.Itoa(parent)).Output()
	if err != nil || filepath.Base(strings.TrimSpace(string(name))) != "go" {
		return ctx, cancel
	}
	go func() {
		for ctx.Err() == nil && os.Getppid() == parent {
			time.Sleep(200 * time.Millisecond)
		}
		cancel()
	}()
	return ctx, cancel
}
