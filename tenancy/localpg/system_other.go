//go:build !linux && !darwin

package localpg

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

const (
	interrupt = syscall.SIGINT
	quit      = syscall.SIGQUIT
)

func attributes(account) *syscall.SysProcAttr { return nil }

func tryLock(*os.File) error {
	return fmt.Errorf("a private PostgreSQL on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func unlock(*os.File) error { return nil }

func ownerOf(os.FileInfo) int { return -1 }
