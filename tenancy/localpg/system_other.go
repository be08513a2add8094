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

func supported() error {
	return fmt.Errorf("a private PostgreSQL on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func attributes(account) *syscall.SysProcAttr { return nil }

func tryLock(*os.File) error { return errors.ErrUnsupported }

func unlock(*os.File) error { return nil }

func alive(int) bool { return false }

func ownerOf(os.FileInfo) int { return -1 }
